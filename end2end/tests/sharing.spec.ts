/** Sharing: the owner's dialog, and what readers see, live and as a snapshot. */
import type { Browser, Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import type { Chat } from '../support/chat.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

/** Shares the shown conversation by a link. Returns its URL. */
async function makeLink(chat: Chat, extent: 'as it is now' | 'as it is written'): Promise<string> {
  const { page } = chat;
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Share this conversation' });
  // There are no accounts.
  await expect(dialog.getByRole('radio', { name: 'People here, by name' })).toHaveCount(0);
  await dialog.getByRole('radio', { name: extent }).check();
  await dialog.getByRole('button', { name: 'Make a link' }).click();
  const made = dialog.getByRole('group', { name: 'The new share' });
  await expect(made).toBeFocused();
  return (await made.locator('code').textContent())!;
}

/** Opens a URL as somebody else, on a phone. */
async function openAsReader(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(url);
  await expect(page.locator('html')).toHaveAttribute('data-state', 'started');
  return page;
}

test('a live share streams to its readers until it is ended', async ({ browser, browserLog, chat, page, upstream }) => {
  browserLog.allow(/status of 404/);
  await upstream.script({ steps: [{ text: 'The tide comes twice a day.' }] });
  await chat.open();
  await chat.begin('When is the tide?');
  await chat.done();
  const url = await makeLink(chat, 'as it is written');
  expect(url).toMatch(/^http:\/\/[^/]+\/shared\/[0-9a-f]{64}$/);
  await expectAccessible(page);
  await screenshots(page, 'sharing');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  const mark = page.getByRole('banner').getByRole('button', { name: 'Shared with whoever has the link' });
  await expect(mark).toBeFocused();
  await expect(page.getByRole('navigation').getByRole('button', { name: 'Shared with whoever has the link: “When is the tide?”' })).toBeVisible();

  const readers = [await openAsReader(browser, url), await openAsReader(browser, url)];
  for (const reader of readers) {
    await expect(reader.getByRole('heading', { name: 'When is the tide?' })).toBeVisible();
    await expect(reader.getByRole('article', { name: 'Answer' })).toContainText('twice a day');
    await expect(reader.getByRole('textbox')).toHaveCount(0);
    for (const name of ['Regenerate', 'Edit', 'Delete', 'More', 'Branch']) {
      await expect(reader.getByRole('button', { name }), name).toHaveCount(0);
    }
  }
  await expectAccessible(readers[0]!);
  await upstream.script({ when: { user_contains: 'And the moon' }, steps: [{ text: 'It pulls' }, { gate: 'rest' }, { text: ' the water.' }] });
  await chat.say('And the moon?');
  for (const reader of readers) {
    await expect(reader.getByRole('article', { name: 'Answer' }).last()).toContainText('It pulls');
    await expect(reader.getByText('And the moon?')).toBeVisible();
  }
  await upstream.open('rest');
  for (const reader of readers) {
    await expect(reader.getByRole('article', { name: 'Answer' }).last()).toContainText('It pulls the water.');
  }
  await screenshots(readers[0]!, 'shared');

  await mark.click();
  await page.getByRole('button', { name: 'End: Whoever has the link' }).click();
  await page.getByRole('dialog', { name: 'End this share?' }).getByRole('button', { name: 'End it' }).click();
  for (const reader of readers) {
    await expect(reader.getByRole('alert')).toContainText('This conversation is no longer shared');
    await expect(reader.getByText('twice a day')).toHaveCount(0);
  }
  await screenshots(readers[1]!, 'share-ended');
  await readers[0]!.reload();
  await expect(readers[0]!.getByRole('alert')).toContainText('Nothing is shared at this address');
  await expect(page.getByText('Only you can read this conversation.')).toBeVisible();
  for (const reader of readers) await reader.context().close();
});

test('a reader without a place is told and does not try again', async ({ browser, browserLog, chat, upstream }) => {
  browserLog.allow(/status of 429/);
  await upstream.script({ steps: [{ text: 'The tide comes twice a day.' }] });
  await chat.open();
  await chat.begin('When is the tide?');
  await chat.done();
  const address = await makeLink(chat, 'as it is written');
  const context = await browser.newContext();
  const reader = await context.newPage();
  let requests = 0;
  await reader.route('**/shared/*/events*', async (route) => {
    requests += 1;
    await route.fulfill({ status: 429 });
  });
  await reader.goto(address);
  await expect(reader.getByText('Too many people watch this. Reload later to see what is new.')).toBeVisible();
  await expect(reader.getByText('Reconnecting')).toHaveCount(0);
  await expect(reader.getByRole('article', { name: 'Answer' })).toContainText('twice a day');
  expect(requests).toBe(1);
  await screenshots(reader, 'shared-crowded');
  await context.close();
});

test.describe('without scripts', () => {
  test('a snapshot can be read', async ({ browser, chat, upstream }) => {
    await upstream.script({ steps: [{ text: 'A **bold** answer.' }] });
    await chat.open();
    await chat.begin('A question');
    await chat.done();
    const url = await makeLink(chat, 'as it is now');
    await chat.page.keyboard.press('Escape');
    await chat.say('Not in the snapshot');
    await chat.done();
    const context = await browser.newContext({ javaScriptEnabled: false });
    const reader = await context.newPage();
    await reader.goto(url);
    await expect(reader.locator('strong', { hasText: 'bold' })).toBeVisible();
    await expect(reader.getByText('Not in the snapshot')).toHaveCount(0);
    await context.close();
  });
});
