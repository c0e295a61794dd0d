/** A result with many rows: the panel shows it page by page, sorted and filtered by the server. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Database } from '../support/database.ts';
import { screenshots } from '../support/screenshots.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend({
  settings: async ({}, use) => {
    const database = new Database();
    await use(database.settings.replace('[data]', '[data]\noffer_everywhere = true'));
    database.remove();
  },
});

const COUNT = 100_000;
const query = `WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT ${COUNT})
SELECT n AS number, CASE WHEN n % 5 THEN round(n * 0.37, 2) END AS rate, 'Town ' || n || CASE n WHEN 4242 THEN ' 100%_' ELSE '' END AS name FROM x`;

const panel = (page: Page) => page.locator('#panel');
const rows = (page: Page) => panel(page).locator('tbody tr:not(.grid-space)');
const numbers = (page: Page) => rows(page).locator('td:first-child');
/** The grid has only the rows near the visible ones in the document. */
const scrollToEnd = (page: Page) => panel(page).locator('.grid-scroller').evaluate((element) => element.scrollTo(0, element.scrollHeight));

test('a table of many rows is paged, sorted, filtered and saved', async ({ chat, page, upstream, browserLog }) => {
  const call = { id: 'c1', name: 'sql_query', arguments: JSON.stringify({ query }) };
  await upstream.script({ when: { user_contains: 'towns' }, steps: [{ tool_call: call }] });
  await upstream.script({ when: { tool_gave: `${COUNT} rows` }, steps: [{ text: 'There are many.' }] });
  await chat.open();
  await chat.say('List all towns');
  const answer = chat.answers;
  await expect(answer.getByText('There are many.')).toBeVisible();
  await expect(answer.getByRole('button', { name: '99,995 more rows' })).toBeVisible();

  await answer.getByRole('button', { name: /^Open: Table: WITH RECURSIVE.*\(100000\)/ }).click();
  const count = panel(page).locator('.table-pager').getByRole('status');
  const button = (name: string) => panel(page).getByRole('button', { name, exact: true });
  await expect(count).toHaveText('1–100 of 100,000 rows');
  await expect(panel(page).getByRole('grid')).toHaveAttribute('aria-rowcount', '100001');
  await expect(numbers(page).first()).toHaveText('1');
  await expect(button('Previous')).toHaveAttribute('aria-disabled', 'true');
  await expectAccessible(page);
  await screenshots(page, 'paged-table');

  // By keyboard, which keeps the focus.
  await button('Next').focus();
  await page.keyboard.press('Enter');
  await expect(count).toHaveText('101–200 of 100,000 rows');
  await expect(numbers(page).first()).toHaveText('101');
  await expect(rows(page).first()).toHaveAttribute('aria-rowindex', '102');
  await expect(button('Next')).toBeFocused();
  await button('Last').click();
  await expect(count).toHaveText('99,901–100,000 of 100,000 rows');
  await scrollToEnd(page);
  await expect(numbers(page).last()).toHaveText('100000');
  await expect(button('Last')).toBeFocused();
  await screenshots(page, 'paged-table-last');
  // Another page begins at its top.
  await button('Previous').click();
  await expect(numbers(page).first()).toHaveText('99801');

  const header = panel(page).getByRole('columnheader', { name: 'rate' });
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'ascending');
  await expect(count).toHaveText('1–100 of 100,000 rows');
  await expect(numbers(page).first()).toHaveText('1');
  await header.getByRole('button').click();
  await expect(numbers(page).first()).toHaveText('99999');
  await button('Last').click();
  await expect(count).toHaveText('99,901–100,000 of 100,000 rows');
  await scrollToEnd(page);
  await expect(rows(page).last()).toHaveText('100000NULLTown 100000');

  const filter = panel(page).getByRole('searchbox', { name: 'Filter rows' });
  await filter.pressSequentially('100%_');
  await expect(count).toHaveText('1–1 of 1 found in 100,000 rows');
  await expect(numbers(page)).toHaveText(['4242']);
  await filter.fill('nowhere');
  await expect(panel(page).getByText('No row has all of these words.')).toBeVisible();
  await expect(count).toHaveText('0 of 100,000 rows');
  await expectAccessible(page);
  await screenshots(page, 'paged-table-empty');
  await filter.fill('town 99');
  await expect(count).toHaveText(/^1–100 of [\d,]+ found in 100,000 rows$/);
  await screenshots(page, 'paged-table-filtered');
  await filter.fill('');
  await expect(count).toHaveText('1–100 of 100,000 rows');

  // A page that can't be loaded leaves the shown one, and can be asked for again.
  browserLog.allow(/500|Internal Server Error/);
  await page.route('**/rpc/table_rows*', (route) => route.fulfill({ status: 500, json: { code: 'internal', message: 'The file is damaged.' } }));
  await button('Next').click();
  await expect(panel(page).getByRole('alert')).toContainText('The file is damaged.');
  await screenshots(page, 'paged-table-failed');
  await expect(numbers(page).first()).toHaveText('99999');
  await page.unroute('**/rpc/table_rows*');
  await panel(page).getByRole('button', { name: 'Try again' }).click();
  await expect(count).toHaveText('101–200 of 100,000 rows');
  await expect(panel(page).getByRole('alert')).toHaveCount(0);

  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    panel(page).getByRole('link', { name: 'Download' }).click(),
  ]);
  const csv = (await readFile(await saved.path(), 'utf8')).split('\r\n');
  expect(csv.length).toBe(COUNT + 2);
  expect(csv.slice(0, 2)).toEqual(['\ufeffnumber,rate,name', '1,0.37,Town 1']);
  expect(csv[COUNT]).toBe('100000,,Town 100000');

  // On a phone.
  await page.setViewportSize({ width: 390, height: 780 });
  await expect(button('Next')).toBeInViewport();
  await button('First').click();
  await expect(count).toHaveText('1–100 of 100,000 rows');
});
