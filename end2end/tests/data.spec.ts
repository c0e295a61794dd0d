/** The page Data: the catalogue, a table, and questions that the model answers with SQL. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { Database } from '../support/database.ts';
import { screenshots } from '../support/screenshots.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend({
  settings: async ({}, use) => {
    const database = new Database();
    await use(database.settings);
    database.remove();
  },
});

const tray = (page: Page) => page.locator('.tray');
const answers = (page: Page) => page.getByRole('article', { name: 'Answer' });
const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

test('finds a table, asks about it and shows the result of a query', async ({ page, upstream }) => {
  const query = 'SELECT month, region, rate FROM unemployment WHERE rate > 4 ORDER BY month';
  const call = (id: string, name: string, input: object) => ({ tool_call: { id, name, arguments: JSON.stringify(input) } });
  await upstream.script({ when: { user_contains: 'highest' }, steps: [call('c1', 'sql_query', { query: 'SELECT rates FROM unemployment' })] });
  await upstream.script({ when: { tool_gave: 'no such column' }, steps: [call('c2', 'sql_query', { query })] });
  await upstream.script({ when: { tool_gave: '2 rows' }, steps: [{ text: 'It was highest in the Capital: 4.4 percent.' }] });

  await page.goto('/data');
  await expect(page.getByRole('heading', { name: 'Danish statistics' })).toBeVisible();
  await expect(page.getByText('Monthly figures of people without work.')).toBeVisible();
  const search = page.getByRole('searchbox', { name: 'Search tables and columns' });
  await expect(async () => {
    await search.fill('percent');
    await search.fill('people');
    await expect(page.getByText('1 of 3 tables')).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(page.getByRole('link', { name: 'regions' })).toBeVisible();
  await search.fill('');
  await expect(page.getByText('3 tables')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'data-catalogue');

  await page.getByRole('link', { name: 'unemployment', exact: true }).click();
  await expect(page).toHaveURL('/data/statistics/unemployment');
  await expect(page.getByRole('region', { name: 'Columns' }).getByText('percent of the workforce')).toBeVisible();
  await expect(page.getByRole('region', { name: 'First rows' }).getByRole('row')).toHaveCount(5);
  await expectAccessible(page);
  await screenshots(page, 'data-table');

  await page.getByRole('button', { name: 'Ask about this table' }).click();
  await expect(message(page)).toBeFocused();
  await expect(message(page)).toHaveAttribute('placeholder', 'Ask about Danish statistics...');
  await expect(tray(page).getByRole('button', { name: 'What is in this table?' })).toBeVisible();
  await message(page).fill('Where is it highest?');
  await message(page).press('Enter');
  await expect(answers(page).getByText('It was highest in the Capital')).toBeVisible();
  const prompt = (await upstream.asked()).at(-1)!.messages[0]!.content;
  expect(prompt).toContain('The unemployment rate by month and region.');

  await screenshots(page, 'data-answer');
  const card = answers(page).locator('.tool').last();
  await card.locator('summary').click();
  await expect(card.locator('.hl-keyword').first()).toHaveText('SELECT');
  await expect(card.getByRole('table').first().getByRole('row')).toHaveCount(3);
  await expect(card.getByText('2 rows.')).toBeVisible();
  await screenshots(page, 'data-card');

  await answers(page).hover();
  await answers(page).getByRole('button', { name: 'More', exact: true }).click();
  const [notebook] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download conversation as notebook' }).click(),
  ]);
  expect(notebook.suggestedFilename()).toMatch(/\.ipynb$/);
  expect(await readFile(await notebook.path(), 'utf8')).toContain('pd.read_sql(');

  await answers(page).getByRole('button', { name: /^Open: Table: SELECT month.*\(2\)/ }).click();
  const panel = page.getByRole('complementary', { name: /^Table: SELECT month/ });
  await expect(panel.getByRole('row')).toHaveCount(3);
  await expectAccessible(page);
  await screenshots(page, 'data-result');
});

test('a table that does not exist says so', async ({ page, browserLog }) => {
  browserLog.allow(/404/);
  await page.goto('/data/statistics/nothing');
  await expect(page.getByRole('heading', { name: 'The table could not be loaded' })).toBeVisible();
  await page.getByRole('link', { name: 'Back to the catalogue' }).click();
  await expect(page.getByText('3 tables')).toBeVisible();
});

base('without a database the page says how to try it', async ({ page }) => {
  await page.goto('/data');
  await expect(page.getByRole('heading', { name: 'Ask a database' })).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'data-empty');
});

test('an attached file is a table of its conversation', async ({ chat, page, upstream }) => {
  const query = 'SELECT city, people FROM towns WHERE people > 2 ORDER BY people DESC';
  const call = { id: 'c1', name: 'sql_query', arguments: JSON.stringify({ query }) };
  await upstream.script({ when: { user_contains: 'largest' }, steps: [{ tool_call: call }] });
  await upstream.script({ when: { tool_gave: '2 rows' }, steps: [{ text: 'The largest is Odense.' }] });
  await chat.open();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  const towns = Buffer.from('city,people\nAarhus,3\nOdense,4\nRibe,1\n');
  await (await choosing).setFiles({ name: 'Towns.csv', mimeType: 'text/csv', buffer: towns });
  await chat.say('Which is the largest?');
  await expect(chat.answers.getByText('The largest is Odense.')).toBeVisible();
  await chat.answers.getByRole('button', { name: /^Open: Table: SELECT city.*\(2\)/ }).click();
  const panel = page.getByRole('complementary', { name: /^Table: SELECT city/ });
  await expect(panel.getByRole('row')).toContainText(['city', 'Odense', 'Aarhus']);
  // From now on, Data can do something.
  await page.getByRole('link', { name: 'Data', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Attached files' })).toBeVisible();
  await expect(page.getByText('3 rows: city, people')).toBeVisible();
  await screenshots(page, 'data-files');
  await page.getByRole('button', { name: 'Show what models get of Towns.csv' }).click();
  await expect(page.getByRole('dialog').getByRole('cell', { name: 'Ribe' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Towns.csv' }).click();
  await expect(chat.answers.getByText('The largest is Odense.')).toBeVisible();
});
