/** A question that takes the model from the catalogue to a plot, with a real Python session, which is restored after a crash. */
import { fileURLToPath } from 'node:url';
import { Database } from '../support/database.ts';
import { screenshots } from '../support/screenshots.ts';
import { test as base, expect } from '../support/test.ts';

const interpreter = fileURLToPath(new URL('../../target/test-python/bin/python', import.meta.url));

const test = base.extend({
  settings: async ({}, use) => {
    const database = new Database();
    await use(`${database.settings}\n[python]\ninterpreter = ${JSON.stringify(interpreter)}\nstart_timeout = "2m"`);
    database.remove();
  },
});

test('a plot of queried rows, and the same frame after a crash', async ({ browserLog, chat, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  const call = (name: string, input: object) => ({ tool_call: { id: `call_${name}`, name, arguments: JSON.stringify(input) } });
  const query = 'SELECT month, region, rate FROM unemployment WHERE rate IS NOT NULL ORDER BY month, region';
  const plot = 'import matplotlib.pyplot as plt\nrates.plot.bar(x="region", y="rate")\nplt.show()\nprint("mean", round(rates.rate.mean(), 2))';
  const capital = 'print("capital", rates[rates.region == "Capital"].rate.mean().round(2))';
  for (const [when, next] of [
    [{ user_contains: 'Plot' }, call('subject_overview', {})],
    [{ tool_gave: 'Monthly figures of people' }, call('table_docs', { table: 'unemployment' })],
    [{ tool_gave: 'First rows' }, call('view_column_values', { table: 'unemployment', column: 'region' })],
    [{ tool_gave: '| value | count |' }, call('sql_query', { query, df_name: 'rates' })],
    [{ tool_gave: 'Stored as rates' }, call('jupyter_notebook', { code: plot, show: [] })],
    [{ tool_gave: 'mean 4.17' }, { text: 'On average it was 4.17 percent.' }],
    [{ user_contains: 'Capital' }, call('jupyter_notebook', { code: capital, show: ['rates'] })],
    [{ tool_gave: 'capital 4.3' }, { text: 'In the Capital it was 4.3 percent.' }],
  ] as const) {
    await upstream.script({ when, steps: [next] });
  }
  await page.goto('/data/statistics/unemployment');
  await chat.hydrated();
  await page.getByRole('button', { name: 'Ask about this table' }).click();
  await chat.message.fill('Plot the unemployment');
  await chat.message.press('Enter');
  await expect(chat.answers.getByText('On average it was 4.17 percent.')).toBeVisible();
  const picture = chat.answers.getByRole('img', { name: /plot|picture|image/i }).first();
  const rows = chat.answers.first().getByRole('cell', { name: 'Capital' });
  await expect(picture).toBeVisible();
  await expect(rows).toHaveCount(2);
  await expect(chat.answers.locator('.trace-now')).toContainText('3 steps');
  await expect(chat.answers.locator('.tool'), 'those with something to look at').toHaveCount(2);
  await screenshots(page, 'data-plot');
  const before = { text: await chat.answers.first().innerText(), picture: await picture.getAttribute('src') };

  await parlor.kill();
  await parlor.start();
  await page.reload();
  await expect(picture).toBeVisible();
  await expect(rows).toHaveCount(2);
  expect({ text: await chat.answers.first().innerText(), picture: await picture.getAttribute('src') }).toEqual(before);
  await chat.message.fill('And in the Capital?');
  await chat.message.press('Enter');
  await expect(chat.answers.getByText('In the Capital it was 4.3 percent.')).toBeVisible();
  expect({ text: await chat.answers.first().innerText(), picture: await picture.getAttribute('src') }).toEqual(before);
  // Nothing was run for the person to see but what the second question asked for.
  await expect(chat.answers.locator('.tool')).toHaveCount(3);
});
