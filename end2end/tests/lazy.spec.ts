/** Views with their own code files; the notice for unknown URLs is one of them. */
import type { Page, Response } from '@playwright/test';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const missing = '/c/0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11';
const notice = (page: Page) => page.getByRole('heading', { name: 'This conversation does not exist.' });
const parts = '**/split_overlays.wasm';
const isPart = (response: Response) => response.url().endsWith('/split_overlays.wasm');

test.beforeEach(({ browserLog }) => browserLog.allow(/status of 404/));

/** Navigates to an unknown URL without reloading the page. */
async function openUnknownUrl(page: Page): Promise<void> {
  await page.evaluate((path) => {
    const link = Object.assign(document.createElement('a'), { href: path });
    document.body.append(link);
    link.click();
  }, missing);
}

test('a rare view is loaded once, when first shown', async ({ chat, page }) => {
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(...(request.url().includes('/split_overlays') ? [request.url()] : [])));
  await chat.open();
  await expect(chat.send).toBeVisible();
  expect(loaded).toEqual([]);
  const [part] = await Promise.all([page.waitForResponse(isPart), openUnknownUrl(page)]);
  await expect(notice(page)).toBeVisible();
  expect(part.headers()).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'br',
    'content-type': 'application/wasm',
  });
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await expect(chat.title).toHaveText('New chat');
  await page.goBack();
  await expect(notice(page)).toBeVisible();
  expect(loaded).toHaveLength(1);
});

test('hydrates a page whose lazy view was server-rendered', async ({ chat, page }) => {
  const [part] = await Promise.all([page.waitForResponse(isPart), page.goto(missing)]);
  expect(part.ok()).toBe(true);
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await expect(chat.title).toHaveText('New chat');
  await expect(notice(page)).toHaveCount(0);
});

test('a failed view says so and the rest works', async ({ browserLog, chat, page }) => {
  browserLog.allow(/net::ERR_|Failed to fetch|WebAssembly/);
  // A newer server does not have the file.
  await page.route(parts, (route) => route.fulfill({ status: 404 }));
  await chat.open();
  await openUnknownUrl(page);
  const failure = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  await expect(failure).toBeVisible();
  await page.unroute(parts);
  await page.route(parts, (route) => route.abort());
  await Promise.all([page.waitForEvent('requestfailed'), failure.getByRole('button', { name: 'Try again' }).click()]);
  await expect(failure).toBeVisible();
  // It is retried automatically too.
  await page.unroute(parts);
  await expect(notice(page)).toBeVisible();
  await expect(failure).toHaveCount(0);
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await chat.say('Hello');
  await chat.done();
});

test('keeps server-rendered HTML until its code loads', async ({ browserLog, chat, page }) => {
  browserLog.allowLostConnections();
  await page.route(parts, (route) => route.abort());
  await Promise.all([page.waitForEvent('requestfailed'), page.goto(missing)]);
  await expect(notice(page)).toBeVisible();
  const [part] = await Promise.all([page.waitForResponse(isPart), page.unroute(parts)]);
  expect(part.ok()).toBe(true);
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await expect(chat.title).toHaveText('New chat');
});

test('shows what was sent until the code of conversations loads', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allowLostConnections();
  await upstream.script({ steps: [{ text: 'It is **bold** now.' }] });
  const code = '**/split_conversation.wasm';
  await page.route(code, (route) => route.abort());
  await Promise.all([page.waitForEvent('requestfailed'), page.goto('/')]);
  await expect(chat.message).toBeFocused();
  await chat.say('Hello');
  await screenshots(page, 'without-conversation');
  await expect(chat.answers).toHaveCount(0);
  const gauge = page.getByRole('button', { name: /^Context window/ });
  await expect(gauge).toHaveCount(0);
  // It is retried automatically. The answer has not waited for it.
  await page.unroute(code);
  await chat.done();
  await expect(chat.questions).toContainText('Hello');
  await expect(chat.answers.getByRole('strong')).toHaveText('bold');
  await expect(gauge).toBeVisible();
});

test('a conversation page loads its code directly', async ({ chat, page }) => {
  await chat.open();
  await chat.say('Hello');
  await chat.done();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1)!));
  await chat.reload();
  expect(asked).toContain('parlor.js');
  for (const file of ['split_conversation.wasm', 'conversation_chunks.bin']) {
    expect(asked.filter((other) => other === file)).toHaveLength(1);
    // Before any of its code has run.
    expect(asked.indexOf(file)).toBeLessThan(asked.indexOf('__wasm_split.js'));
  }
});
