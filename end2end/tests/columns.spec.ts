/** Columns of the saved articles: added, filled, read, corrected and asked again; and the grid with many rows. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { type Literature, expect, test } from '../support/literature.ts';
import { storms, tides } from '../support/pubmed.ts';
import { screenshots } from '../support/screenshots.ts';

const main = (page: Page) => page.locator('#literature');
const dialog = (page: Page) => page.getByRole('dialog');
const cell = (page: Page, row: string, name: string | RegExp) =>
  main(page).getByRole('row', { name: row }).getByRole('gridcell', { name, exact: true });

async function save(literature: Literature): Promise<void> {
  await literature.open();
  await literature.search('sea');
  for (const { title } of [tides, storms]) {
    await literature.save(title).click();
    await expect(literature.save(title)).toHaveAttribute('aria-pressed', 'true');
  }
}

test('a column is filled, corrected and asked again', async ({ literature, page, upstream }) => {
  const answer = (value: string, passage: string) => JSON.stringify({ value, passage });
  await upstream.script({ when: { user_contains: 'The wind moves' }, steps: [{ gate: 'wind' }, { text: answer('', '') }] });
  await upstream.script({ when: { user_contains: 'The moon moves' }, steps: [{ text: answer('the moon', 'moves the sea') }] });
  await save(literature);
  await literature.tab('Saved').click();
  await main(page).getByRole('link', { name: 'Show as a table with columns' }).click();
  await expect(main(page).getByRole('grid', { name: 'Saved articles' })).toBeVisible();
  await main(page).getByRole('button', { name: 'Add a column' }).click();
  await dialog(page).getByLabel('Name').fill('Cause');
  await dialog(page).getByLabel('Question').fill('What moves the sea?');
  await expectAccessible(page);
  await screenshots(page, 'columns-form');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(cell(page, tides.title, 'Not filled')).toBeVisible();

  await main(page).getByRole('button', { name: 'Fill the columns' }).click();
  await screenshots(page, 'columns-fill');
  await dialog(page).getByRole('button', { name: 'Fill', exact: true }).click();
  await upstream.reached('wind');
  await expect(cell(page, tides.title, 'the moon')).toBeVisible();
  await expect(cell(page, storms.title, 'Waiting')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'columns-progress');
  await upstream.open('wind');
  await expect(cell(page, storms.title, 'No answer')).toBeVisible();

  // The passage, and the person's own answer, which can be taken back.
  await cell(page, tides.title, 'the moon').getByRole('button').click();
  await expect(dialog(page).getByText('moves the sea', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'columns-cell');
  await dialog(page).getByLabel('Your answer').fill('gravity');
  await dialog(page).getByRole('button', { name: 'Correct' }).click();
  await expect(cell(page, tides.title, 'Corrected by you gravity')).toBeVisible();
  await cell(page, tides.title, /gravity$/).getByRole('button').click();
  await dialog(page).getByRole('button', { name: 'Change the question' }).click();
  await dialog(page).getByLabel('Question').fill('What moves the water?');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await expect(cell(page, storms.title, 'Not filled')).toBeVisible();
  await expect(cell(page, tides.title, /gravity$/)).toBeVisible();
  await cell(page, tides.title, /gravity$/).getByRole('button').click();
  await dialog(page).getByRole('button', { name: 'Take the correction back' }).click();
  await expect(cell(page, tides.title, 'Not filled')).toBeVisible();
  await screenshots(page, 'columns-table');

  await page.reload();
  await main(page).getByRole('button', { name: 'Change the column “Cause”' }).click();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await expect(main(page).getByRole('columnheader', { name: 'Cause' })).toBeHidden();
});

/** With the variable PARLOR_GRID_FIGURES, it prints the times until the rows are painted. */
test('a grid of 5,000 rows is sorted, filtered and read with the keyboard', async ({ literature, page }) => {
  const rows = 5000;
  const columns = 16;
  await save(literature);
  const articles = Array.from({ length: rows }, (_, row) => ({
    article: {
      pmid: `${row + 1}`, title: `Article ${(row * 7919) % rows}`, authors: ['Roe J'], journal: `Journal ${row % 40}`, published: `20${10 + (row % 15)} Mar`,
      doi: null,
    },
    note: row === 4000 ? 'A needle in the hay' : '',
    saved_at: 1_700_000_000_000 - row,
  }));
  await page.route('**/rpc/library*', (route) => route.fulfill({ json: { as_of: 1e9, articles, streams: [] } }));
  const ids = Array.from({ length: columns }, (_, number) => `01a2217b-0000-7000-8000-${`${number}`.padStart(12, '0')}`);
  const view = {
    as_of: 1e9,
    columns: ids.map((id, number) => ({ id, name: `Column ${number}`, question: 'Which?', type: number % 2 ? 'number' : 'text', revision: 0 })),
    cells: ids.map((id, number) => ({
      column_id: id,
      cells: articles.map(({ article }, row) => ({
        row: article.pmid, state: { answered: { value: number % 2 ? `${(row * 31) % 997}` : `Some words of answer ${row % 97}`, has_passage: row % 5 > 0 } },
      })),
    })),
    job: null,
    limit: 20,
  };
  await page.route('**/rpc/columns*', (route) => route.fulfill({ json: view }));
  await page.goto('/');
  await page.getByRole('link', { name: 'Literature', exact: true }).click();
  await literature.tab('Saved').click();
  await main(page).getByRole('link', { name: 'Show as a table with columns' }).click();
  await expect(main(page).getByText('5,000 rows')).toBeVisible();
  const grid = main(page).getByRole('grid');
  await expect(grid).toHaveAttribute('aria-rowcount', '5001');
  await expect(grid).toHaveAttribute('aria-colcount', '20');
  await expect(grid.getByRole('columnheader', { name: 'Column 15' })).toBeAttached();
  expect(await grid.locator('tbody tr').count()).toBeLessThan(90);

  const first = () => grid.locator('#columns-grid-1-2');
  await grid.getByRole('button', { name: 'Column 1', exact: true }).click();
  await expect(first()).toHaveText(/\.0$|^0$/);
  await grid.getByRole('button', { name: 'Column 1', exact: true }).click();
  await expect(first()).toHaveText(/996/);
  await page.keyboard.press('Control+End');
  await expect(page.locator('#columns-grid-5000-19')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  await expect(page.locator('#columns-grid-4999-0')).toBeFocused();
  await page.keyboard.press('Control+Home');
  await expect(page.locator('#columns-grid-0-0')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(grid.getByRole('columnheader', { name: 'Article' })).toHaveAttribute('aria-sort', 'ascending');
  await literature.filter.fill('needle hay');
  await expect(main(page).getByText('1 of 5,000 rows')).toBeVisible();
  await expect(grid.locator('#columns-grid-1-0')).toBeVisible();
  await literature.filter.fill('');
  await expect(main(page).getByText('5,000 rows', { exact: true })).toBeVisible();

  if (process.env.PARLOR_GRID_FIGURES) {
    const time = (act: string) =>
      page.evaluate(async (act) => {
        const times: number[] = [];
        for (let round = 0; round < 9; round += 1) {
          const button = [...document.querySelectorAll<HTMLElement>('#columns-grid .md-sort')].find(({ textContent }) => textContent?.trim() === 'Column 1')!;
          const field = document.querySelector<HTMLInputElement>('input[type=search][name=q]')!;
          const start = performance.now();
          if (act === 'sort') button.click();
          else {
            field.value = round % 2 ? '' : 'answer 7';
            field.dispatchEvent(new Event('input', { bubbles: true }));
          }
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b)[4]!;
      }, act);
    console.log(`5,000 rows, 20 columns, painted after: sort ${Math.round(await time('sort'))} ms, filter ${Math.round(await time('filter'))} ms`);
  }
});
