/** The payload panel next to the conversation. */
import type { Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from '../support/accessibility.ts';
import type { Chat } from '../support/chat.ts';
import { changeRows } from '../support/damage.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { test as base, expect } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

/** A Parlor whose tools query the scripted server. */
const test = base.extend({
  settings: async ({ upstream }, use) =>
    use(`[tools.web_search]\nprovider = "searxng"\nurl = "${upstream.url}/searxng"\n[tools.pubmed]\nbase_url = "${upstream.url}/eutils"\n`),
});

const results = [
  { title: 'A <b>first</b> page', url: 'https://first.example/page', content: 'What the first says.' },
  { title: 'A second page', url: 'https://second.example/', content: '<script>alert(1)</script>' },
];

/** Scripts a web search for the next question, then a wait at the gate `rest`. */
async function scriptSearch(upstream: Upstream, query: string): Promise<void> {
  await upstream.page('/searxng/search', { query, results });
  await upstream.script({ when: { user_contains: query }, steps: [{ tool_call: { id: `call_${query}`, name: 'web_search', arguments: JSON.stringify({ query }) } }] });
  await upstream.script({ when: { tool_gave: query }, steps: [{ gate: 'rest' }, { text: `That is all about ${query}.` }] });
}

const panel = (page: Page) => page.locator('#panel');
const card = (chat: Chat, word: 'Open' | 'Close' = 'Open') => chat.answers.getByRole('button', { name: `${word}: Web search results: ` });

/** Produces a finished answer with a payload and closes its panel. */
async function finishAnswer(chat: Chat, upstream: Upstream): Promise<void> {
  await scriptSearch(upstream, 'tea');
  await upstream.open('rest');
  await chat.open();
  await chat.begin('What about tea?');
  await chat.done();
  await chat.page.getByRole('button', { name: 'Close the panel' }).click();
  await expect(panel(chat.page)).toHaveCount(0);
}

test('opens for a new payload without taking the focus', async ({ chat, page, upstream }) => {
  await scriptSearch(upstream, 'tea');
  await chat.open();
  await chat.begin('What about tea?');
  const region = page.getByRole('complementary', { name: 'Web search results: tea (2)' });
  await expect(region).toBeVisible();
  await expect(chat.message).toBeFocused();
  await expect(region.getByRole('heading', { name: 'Search results' })).toBeVisible();
  const first = region.getByRole('link', { name: 'A first page' });
  await expect(first).toHaveAttribute('href', 'https://first.example/page');
  await expect(first).toHaveAttribute('rel', 'noopener noreferrer nofollow');
  await expect(region.getByText('<script>alert(1)</script>')).toBeVisible();
  await upstream.open('rest');
  await chat.done();
  await expectAccessible(page);
  await screenshots(page, 'panel-results');

  await chat.reload();
  await expect(panel(page)).toHaveCount(0);
  await expect(card(chat)).toBeVisible();
});

test('the card opens and closes it with the focus', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await chat.tabTo(card(chat), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(panel(page)).toBeFocused();
  await expect(page.getByRole('link', { name: 'A first page' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(panel(page)).toHaveCount(0);
  await expect(card(chat)).toBeFocused();

  await page.keyboard.press('Enter');
  await expect(panel(page)).toBeFocused();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await expect(panel(page)).toHaveCount(0);
  await expect(card(chat)).toBeFocused();

  await card(chat).click();
  await expect(panel(page)).toBeFocused();
  await card(chat, 'Close').click();
  await expect(panel(page)).toHaveCount(0);
});

test('Escape closes it unless another layer is open', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await card(chat).click();
  await chat.list.locator('.item').hover();
  await chat.actions('What about tea?').click();
  const menu = chat.list.getByRole('menu', { name: /^Actions for/ });
  await expect(menu).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect(panel(page)).toBeVisible();
  await chat.message.focus();
  await page.keyboard.press('Escape');
  await expect(panel(page)).toHaveCount(0);
  await expect(chat.message).toBeFocused();
});

test('navigation and deletion close it', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await card(chat).click();
  await expect(panel(page)).toBeVisible();
  await chat.newChat.click();
  await expect(chat.title).toHaveText('New chat');
  await expect(panel(page)).toHaveCount(0);
  await page.goBack();
  await expect(card(chat)).toBeVisible();
  await expect(panel(page)).toHaveCount(0);

  await card(chat).click();
  await expect(page.getByRole('link', { name: 'A first page' })).toBeVisible();
  await chat.press('Delete', 'What about tea?');
  await expect(panel(page)).toHaveCount(0);
  await expect(chat.title).toHaveText('New chat');
});

test('new payloads do not disturb work in it', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await scriptSearch(upstream, 'milk');
  await chat.say('What about milk?');
  await expect(page.getByRole('complementary', { name: 'Web search results: milk (2)' })).toBeVisible();
  await upstream.open('rest');
  await chat.done();
  await page.getByRole('complementary').getByRole('link', { name: 'A first page' }).focus();
  // A separate gate holds the answer back until the focus is in the panel.
  await upstream.page('/searxng/search', { query: 'sugar', results });
  await upstream.script({ when: { user_contains: 'sugar' }, steps: [{ gate: 'ask' }, { tool_call: { id: 'call_sugar', name: 'web_search', arguments: '{"query":"sugar"}' } }] });
  await upstream.script({ when: { tool_gave: 'sugar' }, steps: [{ text: 'Sweet.' }] });
  await chat.say('What about sugar?');
  await upstream.reached('ask');
  await page.getByRole('complementary').getByRole('link', { name: 'A first page' }).focus();
  await upstream.open('ask');
  await expect(chat.answers.last().getByRole('button', { name: 'Open: Web search results: sugar' })).toBeVisible();
  await expect(page.getByRole('complementary', { name: 'Web search results: milk (2)' })).toBeVisible();
  await chat.done();

  await upstream.script({ when: { user_contains: 'honey' }, steps: [{ gate: 'honey' }, { tool_call: { id: 'call_honey', name: 'web_search', arguments: '{"query":"honey"}' } }] });
  await upstream.script({ when: { tool_gave: 'honey' }, steps: [{ text: 'Sweeter.' }] });
  await chat.say('What about honey?');
  await upstream.reached('honey');
  await chat.newChat.click();
  await upstream.open('honey');
  await expect(chat.entries.first()).toHaveAccessibleName(/new|unread/i);
  await expect(panel(page)).toHaveCount(0);
});

test('dragging its edge changes the width permanently', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await card(chat).click();
  const edge = page.getByRole('separator', { name: 'Width of the panel' });
  const width = async () => Math.round((await panel(page).boundingBox())?.width ?? 0);
  await expect(edge).toHaveAttribute('aria-valuenow', '480');
  await expect.poll(width).toBe(480);
  await edge.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(width).toBe(512);
  await page.keyboard.press('Home');
  await expect.poll(width).toBe(320);
  await page.keyboard.press('ArrowRight');
  await waitForPaint(page);
  expect(await width(), 'the minimum width').toBe(320);
  await page.keyboard.press('End');
  await expect.poll(width).toBe(Number(await edge.getAttribute('aria-valuemax')));

  const box = await edge.boundingBox();
  await page.mouse.move(box!.x + box!.width / 2, 300);
  await page.mouse.down();
  await page.mouse.move(880, 300, { steps: 4 });
  await expect.poll(width).toBe(400);
  await page.mouse.up();
  await page.mouse.move(700, 300);
  await waitForPaint(page);
  expect(await width(), 'the pointer was released').toBe(400);
  await chat.reload();
  await card(chat).click();
  await expect.poll(width).toBe(400);
  await edge.dblclick();
  await expect.poll(width).toBe(480);
});

test('a failed load says so and is retried', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allow(/net::ERR_|Failed to fetch|status of 404|WebAssembly/);
  await finishAnswer(chat, upstream);
  await test.step('the payload', async () => {
    // It has been loaded already.
    await chat.reload();
    await page.route('**/rpc/payload?*', (route) => route.abort());
    await card(chat).click();
    const failure = panel(page).getByRole('alert').filter({ hasText: 'This could not be loaded' });
    await expect(failure).toBeVisible();
    await page.unroute('**/rpc/payload?*');
    await failure.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('link', { name: 'A first page' })).toBeVisible();
    await expect(failure).toHaveCount(0);
  });
  await test.step('the code', async () => {
    await page.route('**/split_panel.wasm', (route) => route.abort());
    await chat.reload();
    await card(chat).click();
    await expect(panel(page).getByRole('alert')).toContainText('could not be loaded');
    // It is retried automatically. The button is in `lazy.spec.ts`.
    await page.unroute('**/split_panel.wasm');
    await expect(page.getByRole('link', { name: 'A first page' })).toBeVisible();
  });
});

test('articles show abstracts and link to PubMed', async ({ chat, page, upstream }) => {
  const article = (uid: string, title: string) => ({
    uid, title, source: 'J Water', pubdate: '2024 Jan', authors: [{ name: 'Doe J' }, { name: 'Roe R' }],
    articleids: [{ idtype: 'doi', value: `10.1000/${uid}` }],
  });
  await upstream.page('/eutils/esearch.fcgi', { esearchresult: { count: '1204', idlist: ['1', '2'] } });
  await upstream.page('/eutils/esummary.fcgi', { result: { uids: ['1', '2'], 1: article('1', 'Water is wet.'), 2: article('2', 'A longer title about water and everything that it does to what is not in it.') } });
  await upstream.page('/eutils/efetch.fcgi', '<PubmedArticle><PMID>1</PMID><Abstract><AbstractText>It is.</AbstractText></Abstract></PubmedArticle>');
  await upstream.script({ when: { user_contains: 'water' }, steps: [{ tool_call: { id: 'call_1', name: 'search_pubmed', arguments: '{"query":"water"}' } }] });
  await upstream.script({ when: { tool_gave: 'PubMed has' }, steps: [{ text: 'It is wet.' }] });
  await chat.open();
  await chat.begin('Find water');
  const region = page.getByRole('complementary', { name: 'PubMed search results: water (2)' });
  await expect(region.getByText('2 of 1,204 articles')).toBeVisible();
  await expect(region.getByRole('link', { name: 'Water is wet.', exact: true })).toHaveAttribute('href', 'https://pubmed.ncbi.nlm.nih.gov/1/');
  await region.getByText('Abstract').click();
  await expect(region.getByText('It is.', { exact: true })).toBeVisible();
  await chat.done();
  await expectAccessible(page);
  await screenshots(page, 'panel-articles');
  const [download] = await Promise.all([page.waitForEvent('download'), region.getByRole('link', { name: 'Download' }).click()]);
  expect(download.suggestedFilename()).toMatch(/^\w{8}\.json$/);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('covers the screen only when opened', async ({ chat, page, upstream }) => {
    await scriptSearch(upstream, 'tea');
    await chat.open();
    await chat.say('What about tea?');
    await expect(card(chat)).toBeVisible();
    await upstream.open('rest');
    await chat.done();
    await expect(panel(page)).toHaveCount(0);

    await card(chat).click();
    const dialog = page.getByRole('dialog', { name: 'Web search results: tea (2)' });
    await expect(dialog).toBeFocused();
    await expect(page.getByRole('link', { name: 'A first page' })).toBeVisible();
    await expect.poll(() => dialog.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
    await expect(page.getByRole('separator')).toHaveCount(0);
    // The page behind it cannot be reached.
    await expect(page.locator('.stage')).toHaveAttribute('inert', '');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Close the panel' }).click();
    await expect(dialog).toHaveCount(0);
    await expect(card(chat)).toBeFocused();
  });
});

/** Model outputs, answer by answer, and the check of the panel after the last one. */
const written: Record<string, { says: ((payload: string) => string)[]; check: (page: Page) => Promise<void> }> = {
  table: {
    says: [() => `TABLE: ${JSON.stringify({
      title: 'Planets',
      columns: ['Name', 'Moons', ...Array.from({ length: 65 }, (_, index) => `Column ${index}`)],
      rows: Array.from({ length: 120 }, (_, index) => [`Planet ${index}`, index, ...Array(65).fill('abc')]),
    })}`],
    check: async (page) => {
      const rows = panel(page).getByRole('row');
      const grid = panel(page).getByRole('grid', { name: 'Planets' });
      await expect(grid).toHaveAttribute('aria-rowcount', '121');
      const filter = panel(page).getByRole('searchbox', { name: 'Filter rows' });
      await filter.fill('planet 11');
      await expect(rows).toHaveCount(12);
      await expect(panel(page).getByText('11 of 120 rows')).toBeVisible();
      await panel(page).getByRole('columnheader', { name: 'Moons' }).getByRole('button').click();
      await panel(page).getByRole('columnheader', { name: 'Moons' }).getByRole('button').click();
      await expect(rows.nth(1)).toContainText('Planet 119');
      await expect(panel(page).getByRole('columnheader', { name: 'Moons' })).toHaveAttribute('aria-sort', 'descending');
      await filter.fill('');
      const sideways = await panel(page).locator('.panel-body').evaluate((body) => body.scrollWidth - body.clientWidth);
      expect(sideways, 'it scrolls inside its box').toBe(0);
      await expect(grid).toHaveAttribute('aria-rowcount', '121');
      await expect(panel(page).getByText('Not shown here: 3 more columns')).toBeVisible();
      // For axe, which takes half a minute for all cells.
      await filter.fill('planet 11');
      await expect(rows).toHaveCount(12);
    },
  },
  'chart of bars': {
    says: [() => `CHART: ${JSON.stringify({
      title: 'Weather', kind: 'bar', x: ['May', 'June', 'July'],
      series: [{ name: 'Rain', values: [10, 30, -10] }, { name: 'Sun', values: [20, 4, 26] }],
    })}`],
    check: async (page) => {
      await expect(panel(page).getByRole('img', { name: 'Chart: Weather' })).toBeVisible();
      await expect(panel(page).locator('.chart-labels')).toContainText('June');
      await panel(page).getByText('Numbers').click();
      await expect(panel(page).getByRole('gridcell', { name: 'May' })).toBeVisible();
      await expect(panel(page).getByRole('gridcell', { name: '-10' })).toBeVisible();
    },
  },
  'chart of lines': {
    says: [() => `CHART: ${JSON.stringify({
      title: 'Wind', kind: 'line', x: ['May', 'June', 'July', 'August'],
      series: [{ name: 'North', values: [3, 4.5, null, 2] }, { name: 'South', values: [1, 2, 3, 4] }],
    })}`],
    check: async (page) => {
      await expect(panel(page).getByRole('img', { name: 'Chart: Wind' })).toBeVisible();
      await panel(page).getByText('Numbers').click();
      await expect(panel(page).getByRole('gridcell', { name: '4.5' })).toBeVisible();
    },
  },
  document: {
    says: [
      () => `DOCUMENT: ${JSON.stringify({ title: 'A letter', text: '# Hello\n\nworld' })}`,
      (id) => `DOCUMENT: ${JSON.stringify({ id, title: 'A letter', text: '# Hello\n\nthe **world**' })}`,
    ],
    check: async (page) => {
      // A proposed version shows its changes at first.
      const toggle = panel(page).getByRole('button', { name: 'Show changes' });
      await expect(panel(page).getByRole('insertion')).toHaveText('the **world**');
      await toggle.click();
      await expect(panel(page).locator('strong')).toHaveText('world');
      await toggle.click();
      await expect(panel(page).getByRole('deletion')).toHaveText('world');
    },
  },
};

async function checkAppearance(page: Page, kind: string): Promise<void> {
  await screenshots(page, `panel-${kind.replaceAll(' ', '-')}`);
  await expectAccessibleInBothThemes(page);
}

for (const [kind, { says, check }] of Object.entries(written)) {
  test(`shows a payload of the model: ${kind}`, async ({ chat, page, upstream }) => {
    test.slow();
    await chat.open();
    let id = '';
    for (const [index, text] of says.entries()) {
      await upstream.script({ when: { user_contains: `Go ${index}` }, steps: [{ text: `Here.\n\n${text(id)}\n\nGood?` }] });
      await (index === 0 ? chat.begin('Go 0') : chat.say(`Go ${index}`));
      await chat.done();
      id = (await chat.answers.locator('.payload[data-payload]').last().getAttribute('data-payload'))!;
    }
    await chat.answers.last().getByRole('button', { name: /^Open: / }).click();
    await expect(panel(page)).toBeVisible();
    await check(page);
    await checkAppearance(page, kind);
  });
}

test('shows an unknown payload as a tree', async ({ browserLog, chat, page, parlor, upstream }) => {
  test.slow();
  browserLog.allowLostConnections();
  await finishAnswer(chat, upstream);
  const fields = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field ${index}`, index]));
  const data = { title: 'A thing', parts: ['one', { deep: ['within'] }], fields };
  await changeRows(parlor, "UPDATE payloads SET kind = 'of_a_later_version', data = ?", JSON.stringify(data));
  await chat.reload();
  await card(chat).click();
  await expect(panel(page).getByText('A thing')).toBeVisible();
  await expect(panel(page).getByText('within')).toBeHidden();
  await panel(page).getByText('deep:').click();
  await expect(panel(page).getByText('within')).toBeVisible();
  await checkAppearance(page, 'tree');
});
