import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import type { Chat } from '../support/chat.ts';
import { PNG } from '../support/png.ts';
import { routeOnce } from '../support/requests.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const image = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') });

const fixture = (name: string) => readFile(new URL(`../../tests/fixtures/files/${name}`, import.meta.url));

const attached = (page: Page): Locator => page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');

async function choose(chat: Chat, files: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  const choosing = chat.page.waitForEvent('filechooser');
  await chat.page.getByRole('button', { name: 'Attach files' }).click();
  await (await choosing).setFiles(files);
}

/** Fires an event with an image, as a paste or a drop does. */
async function fire(target: Locator, type: 'paste' | 'dragenter' | 'dragover' | 'drop', name: string): Promise<void> {
  await target.evaluate((element, [type, name, png]) => {
    const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], name, { type: 'image/png' }));
    const options = { bubbles: true, cancelable: true };
    element.dispatchEvent(
      type === 'paste'
        ? new ClipboardEvent(type, { ...options, clipboardData: data })
        : new DragEvent(type, { ...options, dataTransfer: data }),
    );
  }, [type, name, PNG] as const);
}

/** Holds requests to a URL back. Returns a function that releases them. */
async function hold(page: Page, pattern: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(pattern, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

test('files are attached by button, paste and drop, and sent', async ({ chat, page, upstream }) => {
  await chat.open();
  await choose(chat, [image('chosen.png'), { name: 'notes.md', mimeType: 'text/plain', buffer: Buffer.from('# Notes') }]);
  await fire(chat.message, 'paste', 'pasted.png');
  await fire(chat.message, 'dragenter', 'dropped.png');
  await expect(page.getByText('Drop files to attach them')).toBeVisible();
  await fire(chat.message, 'drop', 'dropped.png');
  await expect(page.getByText('Drop files to attach them')).toBeHidden();
  await expect(attached(page)).toContainText(['chosen.png', 'notes.md', 'pasted.png', 'dropped.png']);
  await page.getByRole('button', { name: 'Remove dropped.png' }).click();
  await expect(attached(page)).toHaveCount(3);
  await chat.say('What is this?');
  await expect(attached(page)).toHaveCount(0);
  const files = chat.questions.getByRole('list', { name: 'Files' });
  await expect(files.getByRole('img')).toHaveCount(2);
  await expect(files.getByRole('link', { name: /notes\.md/ })).toBeVisible();
  await chat.done();
  await expect(files.locator('[data-pending]')).toHaveCount(0);
  const [asked] = await upstream.asked();
  const content = JSON.stringify(asked);
  expect(content).toContain('data:image/png;base64,');
  expect(content).toContain('# Notes');
  await chat.reload();
  await expect(files.getByRole('img')).toHaveCount(2);
});

test('attached files survive a reload and the next chat', async ({ chat, page }) => {
  await chat.open();
  await choose(chat, image('map.png'));
  await expect(page.getByRole('button', { name: 'Remove map.png' })).toBeVisible();
  await chat.reload();
  await expect(attached(page)).toContainText(['map.png']);
  // A message may be a file alone.
  await chat.message.press('Enter');
  await expect(chat.questions.getByRole('img', { name: 'map.png' })).toBeVisible();
  await expect(chat.title).toHaveText('map.png');
  await chat.newChat.click();
  await expect(attached(page)).toHaveCount(0);
});

test('an unconfirmed image is marked as pending', async ({ chat, page }) => {
  await chat.open();
  await choose(chat, image('map.png'));
  await expect(page.getByRole('button', { name: 'Remove map.png' })).toBeVisible();
  const send = await hold(page, '**/rpc/send_message');
  await chat.say('Look');
  const shown = chat.questions.getByRole('img', { name: 'map.png' });
  await expect(shown).toHaveAttribute('data-pending', 'true');
  await expect(shown).toHaveCSS('cursor', 'wait');
  send();
  await expect(shown).not.toHaveAttribute('data-pending');
});

test('the message waits for its uploads', async ({ chat, page, upstream }) => {
  await chat.open();
  const upload = await hold(page, '**/rpc/files?*');
  await choose(chat, image('map.png'));
  await chat.message.fill('Look');
  await chat.message.press('Enter');
  await expect(page.getByText('The message is sent when its files are uploaded.')).toBeAttached();
  expect(await upstream.asked()).toHaveLength(0);
  upload();
  await expect(chat.questions.getByRole('img', { name: 'map.png' })).toBeVisible();
  await chat.done();
});

test.describe('limits', () => {
  test.use({ settings: '[files]\nmax_bytes = 200\nmax_count = 2' });

  test('a file over a limit is not sent, says why and can be removed', async ({ chat, page }) => {
    const uploads: string[] = [];
    page.on('request', (request) => request.url().includes('/rpc/files?') && uploads.push(request.url()));
    await chat.open();
    const text = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'x') });
    await choose(chat, [text('long.txt', 201), text('a.txt', 9), text('b.txt', 9), text('c.txt', 9)]);
    await expect(attached(page).getByRole('alert')).toHaveText([
      'The file has 201 bytes; the limit is 200 bytes. Attach a smaller one.',
      'A message can have 2 files. Send this one in the next message.',
    ]);
    await expect(attached(page).getByText('9 bytes')).toHaveCount(2);
    expect(uploads).toHaveLength(2);
    await page.getByRole('button', { name: 'Remove long.txt' }).click();
    await page.getByRole('button', { name: 'Remove c.txt' }).click();
    await expect(attached(page)).toHaveCount(2);
    await chat.say('Hello');
    await chat.done();
  });

  test('files over a limit hold back no other file of a project', async ({ chat, page, parlor }) => {
    const id = '01a2217b-0246-7346-8b45-a4bcd684a3d1';
    await page.request.put(`${parlor.url}/api/projects/${id}`, { data: { name: 'Garden' } });
    await chat.open(`/project/${id}`);
    const text = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'x') });
    const files = page.getByRole('region', { name: 'Files' });
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'];
    await files.getByLabel('Add files').setInputFiles([...names.map((name) => text(name, 201)), text('short.txt', 9)]);
    await expect(files.getByRole('alert')).toHaveCount(5);
    await expect(files.getByRole('link', { name: 'short.txt' })).toBeVisible();
  });
});

test.describe('no room', () => {
  test.use({ settings: '[files]\nuser_bytes = 1000' });

  test('a file without room is not sent', async ({ browserLog, chat, page }) => {
    browserLog.allow(/status of 507/);
    const uploads: string[] = [];
    page.on('request', (request) => request.url().includes('/rpc/files?') && uploads.push(request.url()));
    await chat.open();
    await choose(chat, { name: 'long.txt', mimeType: 'text/plain', buffer: Buffer.alloc(2e6, 'x') });
    await expect(attached(page).getByRole('alert')).toContainText('You have no room for this file');
    expect(uploads).toHaveLength(0);
    await page.getByRole('button', { name: 'Remove long.txt' }).click();
    await expect(attached(page)).toHaveCount(0);
  });
});

test('a failed upload is retried, a running one is cancelled', async ({ browserLog, chat, page }) => {
  browserLog.allow(/ERR_FAILED/);
  await chat.open();
  await routeOnce(page, '**/rpc/files?*', (route) => route.abort());
  await choose(chat, image('map.png'));
  await expect(attached(page).getByRole('alert')).toHaveText('The upload was cut off.');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('button', { name: 'Remove map.png' })).toBeVisible();
  await expect(attached(page).getByRole('alert')).toHaveCount(0);
  const release = await hold(page, '**/rpc/files?*');
  await choose(chat, image('other.png'));
  await expect(attached(page).getByRole('progressbar', { name: 'Uploading' })).toBeVisible();
  await page.getByRole('button', { name: 'Cancel upload of other.png' }).click();
  await expect(attached(page)).toHaveCount(1);
  release();
  await chat.say('Look');
  await expect(chat.questions.getByRole('img')).toHaveCount(1);
  await chat.done();
});

test('a document shows what models get of it', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allow(/status of 422/);
  await chat.open();
  await choose(chat, [
    { name: 'orders.xlsx', mimeType: '', buffer: await fixture('orders.xlsx') },
    { name: 'password.pdf', mimeType: '', buffer: await fixture('password.pdf') },
    { name: 'scan.pdf', mimeType: '', buffer: await fixture('scan.pdf') },
  ]);
  await expect(attached(page).getByRole('note')).toHaveText([/Needs a password/, /No text, only images/]);
  await chat.message.fill('What was');
  await page.getByRole('button', { name: 'Show what models get of orders.xlsx' }).click();
  const dialog = page.getByRole('dialog', { name: 'orders.xlsx' });
  await expect(dialog.getByRole('heading', { name: 'Orders', exact: true })).toBeVisible();
  await expect(dialog.getByText('300 rows; the first 200 are shown.')).toBeVisible();
  await expect(dialog.getByRole('row').nth(2)).toHaveText(/Order 2.*3.*2026-01-03.*true/);
  await screenshots(page, 'document-preview');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
  // Closing sends nothing.
  await expect(chat.message).toHaveValue('What was');
  await expect(attached(page)).toHaveCount(3);
  await expect(page.getByText('has no text, only images')).toHaveCount(0);
  await chat.message.fill('What was ordered?');
  await chat.message.press('Enter');
  // Nothing was sent: the model does not see the scan.
  await expect(page.getByText('scan.pdf has no text, only images')).toBeVisible();
  expect(await upstream.asked()).toHaveLength(0);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });

  test('a photo comes from the camera', async ({ chat, page }) => {
    await chat.openWithTouch();
    const choosing = page.waitForEvent('filechooser');
    await chat.add('Take a photo');
    const chooser = await choosing;
    await expect(page.locator('input[capture="environment"]')).toHaveAttribute('accept', 'image/*');
    await chooser.setFiles([image('photo.png')]);
    await expect(attached(page)).toContainText(['photo.png']);
  });

  test('files fit the screen of a phone', async ({ chat, page }) => {
    await chat.openWithTouch();
    const choosing = page.waitForEvent('filechooser');
    await chat.add('Attach files');
    await (await choosing).setFiles(image(`${'a-very-long-name-'.repeat(6)}.png`));
    await expect(attached(page)).toHaveCount(1);
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    expect(await fits()).toBe(true);
    await chat.send.click();
    await expect(chat.questions.getByRole('img')).toBeVisible();
    expect(await fits()).toBe(true);
  });
});

test('the assistant looks at a photograph again two turns later', async ({ chat, upstream }) => {
  await upstream.script({ when: { user_contains: 'What is on it?' }, steps: [{ text: 'A beach.' }] });
  await upstream.script({ when: { user_contains: 'Thanks' }, steps: [{ text: 'You are welcome.' }] });
  await chat.open();
  await choose(chat, [image('photo.png')]);
  await chat.begin('What is on it?');
  await chat.done();
  const request = async () => JSON.stringify((await upstream.asked()).at(-1)!.messages);
  const first = await request();
  expect(first, 'it has the image').toContain('data:image/png;base64,');
  const [, message] = /([0-9a-f-]{36}):0/.exec(first)!;
  await chat.say('Thanks');
  await chat.done();

  const call = { id: 'call_1', name: 'retrieve_file', arguments: JSON.stringify({ message_id: message, file_index: 0 }) };
  await upstream.script({ when: { user_contains: 'How many people?' }, steps: [{ tool_call: call }] });
  await upstream.script({ when: { tool_gave: 'photo.png follows.' }, steps: [{ text: 'Nobody is there.' }] });
  await chat.say('How many people?');
  await expect(chat.answers.last()).toContainText('Nobody is there.');
  await expect(chat.answers.last().getByText('Looked at a file')).toBeVisible();
  const last = (await upstream.asked()).at(-1)!.messages.at(-1)!;
  expect(JSON.stringify(last), 'the image follows the call').toContain('data:image/png;base64,');
});
