import { layoutShifts, recordLayoutShifts } from '../support/layout-shift.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const TABLE = `Some words before the table.

| Name | **Price** | [Site](https://example.com) |
|------|------:|------|
| pen, blue | $9 | $a^2$ |
| book | $1,000 | b |
| ink  | 10 | - |
`;

test('tables are sorted and copied', async ({ chat, context, page, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await upstream.script({ steps: [{ text: TABLE }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  const table = chat.answers.getByRole('table');
  const names = table.locator('tbody tr td:first-child');
  const price = table.getByRole('columnheader', { name: 'Price' });
  const original = ['pen, blue', 'book', 'ink'];
  await expect(names).toHaveText(original);
  await expect(price).not.toHaveAttribute('aria-sort');

  await price.getByRole('button').click();
  await expect(price).toHaveAttribute('aria-sort', 'ascending');
  await expect(names).toHaveText(['pen, blue', 'ink', 'book']);
  await expect(table.locator('math')).toHaveCount(1);
  // By keyboard.
  await page.keyboard.press('Enter');
  await expect(price).toHaveAttribute('aria-sort', 'descending');
  await expect(names).toHaveText(['book', 'ink', 'pen, blue']);
  await screenshots(page, 'table-sorted');

  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await chat.answers.getByRole('button', { name: 'Copy as CSV' }).click();
  await expect.poll(clipboard).toBe('Name,Price,Site\r\nbook,"$1,000",b\r\nink,10,-\r\n"pen, blue",$9,a^2\r\n');
  await chat.answers.getByRole('button', { name: 'Copy as Markdown' }).click();
  await expect.poll(clipboard).toContain('| Name | **Price** | [Site](<https://example.com>) |\n| --- | --: | --- |\n| book | \\$1,000 | b |');

  await price.getByRole('button').click();
  await expect(price).not.toHaveAttribute('aria-sort');
  await expect(names).toHaveText(original);
  // A header with a link has a button next to it.
  await table.getByRole('button', { name: 'Sort', exact: true }).click();
  await expect(table.getByRole('columnheader', { name: 'Site' })).toHaveAttribute('aria-sort', 'ascending');

  await chat.open(chat.path);
  await expect(names).toHaveText(original);
  await price.getByRole('button').click();
  await expect(names).toHaveText(['pen, blue', 'ink', 'book']);
});

test('nothing moves while a table streams in', async ({ chat, page, upstream }) => {
  await upstream.script({
    steps: [
      { text: 'Before.\n\n| Name | What it is |\n|---|---' },
      { gate: 'head' },
      { text: '|\n| one ' },
      { gate: 'half' },
      { text: '| a thing |\n| a much' },
      { gate: 'row' },
      { text: ' longer name than before | and a description that needs more room than any other ' },
      { gate: 'wide' },
      { text: 'in the table, so that it has several lines in its cell |\n| x | y |\n|' },
      { gate: 'end' },
      { text: ' z | |\n\nAfter.' },
    ],
  });
  await chat.open();
  await chat.say('Show');
  const answer = chat.answers.last();
  const rows = answer.locator('tbody tr');
  await upstream.reached('head');
  await expect(answer).toContainText('Before.');
  await recordLayoutShifts(page);
  await upstream.open('head');
  await upstream.reached('half');
  await expect(answer.getByRole('table')).toBeHidden();
  await upstream.open('half');
  await expect(rows).toHaveCount(1);
  await upstream.open('row');
  await upstream.reached('wide');
  await expect(rows).toHaveCount(1);
  await upstream.open('wide');
  await expect(rows).toHaveCount(3);
  await upstream.open('end');
  await expect(answer).toContainText('After.');
  await chat.done();
  await waitForPaint(page);
  expect(await layoutShifts(page)).toEqual([]);
  await screenshots(page, 'table-streamed');
});
