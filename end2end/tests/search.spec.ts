/** Full-text search: in the palette, at the place in its conversation, and in one conversation. */
import type { Page } from '@playwright/test';
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { runConversation } from '../support/events.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const field = (page: Page) => page.getByRole('combobox');
const found = (page: Page) => page.getByRole('dialog').getByRole('option');

/** The texts that the browser marks. */
function marks(page: Page): Promise<string[]> {
  return page.evaluate(() => [...(CSS.highlights.get('found') ?? [])].map((range) => range.toString()));
}

async function search(page: Page, query: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type(query);
}

/** Adds a conversation of several turns to the one at a path. */
async function continueConversation(url: string, path: string, messages: string[]): Promise<void> {
  for (const message of messages) {
    const body = JSON.stringify({ message, conversation_id: path.replace('/c/', '') });
    const response = await fetch(`${url}/api/chat/stream`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await response.text();
  }
}

test('finds words in texts and opens their place', async ({ chat, page, parlor, upstream }) => {
  const filler = Array.from({ length: 30 }, (_, n) => `Filler paragraph ${n} about nothing in particular.\n\n`).join('');
  await upstream.script({ steps: [{ text: `${filler}The **Eutrophication** of shallow lakes began in 1953.\n\n${filler}` }] });
  const path = await runConversation(parlor.url, 'Tell me about water');
  await upstream.script({ steps: [{ text: filler }] });
  await continueConversation(parlor.url, path, Array.from({ length: 14 }, (_, n) => `Question ${n}`));
  await runConversation(parlor.url, 'Something else');
  await chat.open();
  await search(page, 'lakes eutroph');
  await expect(found(page)).toHaveCount(1);
  await expect(found(page).locator('mark')).toHaveText(['Eutrophication', 'lakes']);
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'search');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${path}$`));
  const place = page.getByText('Eutrophication');
  await expect(place).toBeInViewport();
  await expect.poll(() => marks(page)).toEqual(['Eutrophication', 'lakes']);
});

test('finds what is not loaded in a conversation', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'An answer.' }] });
  const path = await runConversation(parlor.url, 'The first one has a pangolin');
  await continueConversation(parlor.url, path, Array.from({ length: 30 }, (_, n) => `Question ${n}`));
  await runConversation(parlor.url, 'A pangolin elsewhere');
  await page.goto(path);
  await chat.ready();
  await expect(page.getByRole('article').getByText('The first one has a pangolin')).toHaveCount(0);
  await page.keyboard.press('Control+Shift+F');
  await expect(page.getByRole('combobox', { name: 'Find in this chat' })).toBeFocused();
  await page.keyboard.type('pangolin');
  await expect(found(page)).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('article').getByText('The first one has a pangolin')).toBeInViewport();
  await expect.poll(() => marks(page)).toEqual(['pangolin']);
});

test('goes from one place in a conversation to the next', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'An answer.' }] });
  // The time stands right after a question: a period ends the number.
  const path = await runConversation(parlor.url, 'Pangolin number 0.');
  await continueConversation(parlor.url, path, Array.from({ length: 24 }, (_, n) => `Pangolin number ${n + 1}.`));
  await page.goto(path);
  await chat.ready();
  await page.keyboard.press('Control+Shift+F');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('pangolin');
  // The title is one of the first twenty, and no place.
  await expect(found(page)).toHaveCount(19);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(found(page)).toHaveCount(25);
  await expect(page.getByRole('button', { name: 'Show more' })).toHaveCount(0);
  await field(page).fill('number 7');
  await expect(found(page)).toHaveCount(1);
  await field(page).fill('pangolin number');
  await expect(found(page)).toHaveCount(19);
  // Those that were not shown are places, too.
  await found(page).filter({ hasText: 'Pangolin number 24.' }).click();
  const steps = page.getByRole('group', { name: 'Found in this chat' });
  const place = page.getByRole('status').filter({ hasText: ' of ' });
  await expect(place).toHaveText('25 of 25');
  await expect(steps.getByRole('button', { name: 'Next place' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(place).toHaveText('1 of 25');
  await expect(page.getByRole('article').getByText('Pangolin number 0.')).toBeInViewport();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(place).toHaveText('24 of 25');
  await expect(page.getByRole('article').getByText('Pangolin number 23.')).toBeInViewport();
  await expect.poll(() => marks(page)).toEqual(['Pangolin', 'number']);
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'find');
  await page.keyboard.press('Escape');
  await expect(steps).toHaveCount(0);
  expect(await marks(page)).toEqual([]);
});

test('opens the call whose result was found', async ({ chat, page, upstream }) => {
  const add = (n: number) => ({ tool_call: { id: `call_${n}`, name: 'calculate', arguments: JSON.stringify({ expression: `1000000 + ${n}` }) } });
  await upstream.script({ steps: [add(1), add(2), add(3)] });
  await upstream.script({ when: { tool_gave: '1000003' }, steps: [{ text: 'They are added.' }] });
  await chat.open();
  await chat.begin('Add these');
  await chat.done();
  const cards = chat.answers.locator('.tool');
  await expect(cards.filter({ visible: true })).toHaveCount(0);
  for (const attempt of ['first', 'after it was closed']) {
    await search(page, '1000002');
    await expect(found(page).locator('mark')).toHaveText(['1000002']);
    await page.keyboard.press('Enter');
    await expect(cards.nth(1).locator('details'), attempt).toHaveAttribute('open');
    await expect(cards.nth(0).locator('details')).not.toHaveAttribute('open');
    await expect.poll(() => marks(page)).toContain('1000002');
    await expect(cards.nth(1).locator('pre').last()).toBeInViewport();
    await expect(page.getByRole('button', { name: 'Jump to latest' }), 'all is in view').toHaveCount(0);
    await chat.answers.locator('.work > .trace > summary').click();
    await expect(cards.filter({ visible: true })).toHaveCount(0);
  }
});

test('drops the answer to an earlier query', async ({ chat, page, parlor }) => {
  await runConversation(parlor.url, 'Apples are red, and so are some of the others');
  await runConversation(parlor.url, 'Bananas are yellow, and so are some of the others');
  await chat.open();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let requests = 0;
  await page.route('**/rpc/search', async (route) => {
    requests += 1;
    if (requests === 1) await held;
    await route.continue();
  });
  await search(page, 'a');
  await expect.poll(() => requests).toBe(1);
  await page.keyboard.press('Backspace');
  await page.keyboard.type('yellow');
  release();
  await expect.poll(() => requests, 'one at a time, the last query after the first').toBe(2);
  // The question, and the answer that repeats it.
  await expect(found(page)).toHaveText([/Bananas/, /Bananas/]);
});

test('says what failed, and tries again', async ({ browserLog, chat, page, parlor }) => {
  browserLog.allow(/rpc\/search/);
  await runConversation(parlor.url, 'Some quiet words that nobody else has written anywhere before');
  await chat.open();
  await page.route('**/rpc/search', (route) => route.abort());
  await search(page, 'anywhere');
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('could not be searched');
  await page.unroute('**/rpc/search');
  await page.getByRole('button', { name: 'Try again' }).click();
  // The title, the question, and the answer that repeats it.
  await expect(found(page)).toHaveCount(3);
  await expect(page.getByRole('dialog').getByRole('alert')).toHaveCount(0);
  await field(page).fill('xylophone');
  await expect(page.getByRole('status').filter({ hasText: 'Nothing found' })).toBeVisible();
});

test('what is typed before the search is loaded belongs to it', async ({ browserLog, chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'An answer about pangolins.' }] });
  await runConversation(parlor.url, 'Something');
  // A failed load is repeated by itself.
  browserLog.allow(/split_palette|ERR_FAILED|Failed to fetch/);
  let arrive = () => {};
  const wanted = new Promise<void>((resolve) => (arrive = resolve));
  let loads = 0;
  await page.route('**/split_palette.wasm', async (route) => {
    if (loads++ === 0) return route.abort();
    await wanted;
    return route.fallback();
  });
  await chat.open();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('textbox', { name: 'Search chats and actions' })).toBeFocused();
  await page.keyboard.type('pang');
  await expect(chat.message).toHaveValue('');
  // The keys that open it close it; what was typed is forgotten.
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('pang');
  arrive();
  await expect(field(page)).toHaveValue('pang');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('olins');
  await expect(field(page)).toHaveValue('pangolins');
  await expect(found(page)).toHaveCount(1);
  await expect(chat.message).toHaveValue('');
  await page.keyboard.press('Escape');
  await expect(chat.message).toBeFocused();
});
