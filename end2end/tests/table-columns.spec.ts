/** Columns of the rows of a table: of a message, and of an attached CSV file. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const panel = (page: Page) => page.locator('#panel');
const dialog = (page: Page) => page.getByRole('dialog');
const cell = (page: Page, row: string, name: string) =>
  panel(page).getByRole('row', { name: row }).getByRole('gridcell', { name, exact: true });

test('the rows of a table in the panel are asked, also after a reload', async ({ chat, page, upstream }) => {
  const table = { title: 'Ships', columns: ['Name', 'Year'], rows: [['Vasa', 1628], ['Kronan', 1668]] };
  await upstream.script({ when: { user_contains: 'Show ships' }, steps: [{ text: `TABLE: ${JSON.stringify(table)}` }] });
  const answer = (value: string, passage: string) => JSON.stringify({ value, passage });
  await upstream.script({ when: { user_contains: 'Name: Vasa' }, steps: [{ text: answer('in 1628', 'Year: 1628') }] });
  await upstream.script({ when: { user_contains: 'Name: Kronan' }, steps: [{ text: answer('', '') }] });
  await chat.open();
  await chat.begin('Show ships');
  await chat.done();
  await chat.answers.getByRole('button', { name: /^Open: / }).click();
  await expect(panel(page).getByRole('grid', { name: 'Ships' })).toBeVisible();
  await screenshots(page, 'table-panel');
  await panel(page).getByRole('button', { name: 'Columns' }).click();
  await panel(page).getByRole('button', { name: 'Add a column' }).click();
  await dialog(page).getByLabel('Name').fill('Sunk');
  await dialog(page).getByLabel('Question').fill('When did it sink?');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(cell(page, 'Vasa', 'Not filled')).toBeVisible();
  await panel(page).getByRole('button', { name: 'Fill the columns' }).click();
  await expect(dialog(page).getByText('2 questions for 2 cells')).toBeVisible();
  await screenshots(page, 'table-columns-fill');
  await dialog(page).getByRole('button', { name: 'Fill', exact: true }).click();
  await expect(cell(page, 'Vasa', 'in 1628')).toBeVisible();
  await expect(cell(page, 'Kronan', 'No answer')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'table-columns');
  await cell(page, 'Vasa', 'in 1628').getByRole('button').click();
  await expect(dialog(page).getByText('Year: 1628', { exact: true })).toBeVisible();
  await page.keyboard.press('Escape');

  await chat.reload();
  await chat.answers.getByRole('button', { name: /^Open: / }).click();
  await expect(cell(page, 'Vasa', 'in 1628')).toBeVisible();
});
