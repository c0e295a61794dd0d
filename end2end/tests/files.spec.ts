import type { Locator, Page } from '@playwright/test';
import type { Chat } from '../support/chat.ts';
import { expect, test } from '../support/test.ts';

/** A red image of 1 × 1 pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const image = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') });

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

/** Holds requests to an address back. Returns a function that releases them. */
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
  test.use({ settings: '[files]\nmax_bytes = 200' });

  test('a rejected file says why and can be removed', async ({ browserLog, chat, page }) => {
    browserLog.allow(/status of 413/);
    await chat.open();
    await choose(chat, { name: 'long.txt', mimeType: 'text/plain', buffer: Buffer.alloc(201, 'x') });
    await expect(attached(page).getByRole('alert')).toContainText('more than 200 bytes');
    await page.getByRole('button', { name: 'Remove long.txt' }).click();
    await expect(attached(page)).toHaveCount(0);
    await chat.say('Hello');
    await chat.done();
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 800 } });

  test('files fit the screen of a phone', async ({ chat, page }) => {
    await chat.open();
    await choose(chat, image(`${'a-very-long-name-'.repeat(6)}.png`));
    await expect(attached(page)).toHaveCount(1);
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    expect(await fits()).toBe(true);
    await chat.send.click();
    await expect(chat.questions.getByRole('img')).toBeVisible();
    expect(await fits()).toBe(true);
  });
});
