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
