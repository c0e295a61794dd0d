/** The page *Reports*: a report of a stream is made, read, compared, exported and asked about. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, test } from '../support/literature.ts';
import { press, record, shown } from '../support/notifications.ts';
import { placeArticles, tides } from '../support/pubmed.ts';
import { screenshots } from '../support/screenshots.ts';
import type { Upstream } from '../support/upstream.ts';

const answer = (amount: string) =>
  JSON.stringify({
    relevant: true,
    reason: 'It is about what moves the sea.',
    category: 'Moon',
    answers: [{ name: 'Cause', value: amount, passage: 'moves the sea' }],
    claims: [
      { text: 'The moon moves the sea.', pmid: tides.pmid, passage: 'The moon moves the sea.' },
      { text: 'The sun does, too.', pmid: tides.pmid, passage: 'The sun moves the sea.' },
    ],
  });

async function answers(upstream: Upstream): Promise<void> {
  await upstream.script({ when: { user_contains: 'The wind moves' }, steps: [{ gate: 'wind' }, { text: answer('wind') }] });
  await upstream.script({ when: { user_contains: 'The moon moves' }, steps: [{ text: answer('moon') }] });
}

const main = (page: Page) => page.locator('#reports');

test('a report of a stream is made, compared with the next one and asked about', async ({ context, literature, page, upstream }) => {
  await record(context, 'granted');
  await answers(upstream);
  await placeArticles(upstream, 1, [tides]);
  await literature.open('/stream/new');
  const form = page.locator('#edit_stream');
  await form.getByLabel('Name', { exact: true }).fill('Sea level');
  await form.getByLabel('Query for PubMed').fill('tides');
  await form.getByRole('button', { name: 'Add a field' }).click();
  await form.getByLabel('Field 1').fill('Cause');
  await form.getByLabel('Question 1').fill('What moves the sea?');
  await form.getByRole('button', { name: 'Add a category' }).click();
  await form.getByLabel('Category 1').fill('Moon');
  await form.getByLabel('Which articles belong to it 1').fill('What the moon moves.');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page).toHaveURL(/\/stream\/[0-9a-f-]{36}/);
  await page.getByRole('link', { name: 'All streams' }).click();
  await page.getByRole('link', { name: 'Report: Sea level' }).click();
  await expect(main(page).getByLabel('Stream')).toHaveValue(/.{36}/);
  await main(page).getByLabel('Limit').fill('x');
  await main(page).getByRole('button', { name: 'Make the report' }).click();
  await expect(page.getByText('A limit is an amount in dollars')).toBeVisible();
  await main(page).getByLabel('Limit').fill('1');
  await expectAccessible(page);
  await screenshots(page, 'report-form');
  await main(page).getByRole('button', { name: 'Make the report' }).click();

  await expect(page).toHaveURL(/\/reports\/[0-9a-f-]{36}$/);
  await expect(main(page).getByText('1 found · 1 looked at · 1 relevant')).toBeVisible();
  const summary = main(page).locator('.report-claims');
  await expect(summary.getByRole('listitem').nth(1)).toContainText('no source found');
  await expect(main(page).getByText('1 sentence has no source')).toBeVisible();

  // The next report has another article, and is watched while it is made.
  await placeArticles(upstream);
  await main(page).getByRole('link', { name: 'Make again' }).click();
  await main(page).getByRole('button', { name: 'Make the report' }).click();
  await upstream.reached('wind');
  await expect(main(page).getByText('The report is being made.')).toBeVisible();
  await expect(main(page).getByRole('progressbar')).toHaveAttribute('max', /[1-9]/);
  await screenshots(page, 'report-progress');
  await main(page).getByRole('button', { name: 'Stop' }).click();
  await expect(main(page).getByText('The report is stopped')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'report-stopped');
  await main(page).getByRole('button', { name: 'Continue' }).click();
  await expect(main(page).getByText('The report is being made.')).toBeVisible();
  // It ends while something else is on the screen.
  await press(page);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await list.getByRole('link', { name: 'New chat' }).click();
  await expect(page).toHaveTitle('Parlor');
  await upstream.open('wind');
  await expect(page).toHaveTitle(/^\(1\)/);
  await expect.poll(() => shown(page)).toEqual([{ title: 'Sea level', body: 'The report is ready.' }]);
  await list.getByRole('link', { name: 'Reports one is new' }).click();
  await expect(main(page).getByRole('heading', { name: /^New: / })).toHaveCount(1);
  await expectAccessible(page);
  await screenshots(page, 'report-unseen');
  await main(page).getByRole('heading', { name: /^New: / }).getByRole('link').click();
  await expect(main(page).getByRole('link', { name: '1 new' })).toBeVisible();
  await expect(list.getByRole('link', { name: 'Reports', exact: true })).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'report-summary');

  const tabs = main(page).getByRole('navigation');
  await tabs.getByRole('link', { name: 'Articles' }).click();
  const rows = main(page).locator('tbody tr:not(.grid-space)');
  await expect(rows).toHaveCount(2);
  await main(page).getByLabel('Which articles').selectOption({ label: 'New' });
  await expect(rows).toHaveText([/Storms at sea/]);
  await main(page).getByLabel('Which articles').selectOption({ label: 'All' });
  await main(page).getByRole('button', { name: 'Cause' }).click();
  await expect(rows).toHaveText([/moon/, /wind/]);
  await main(page).getByRole('button', { name: 'Cause' }).click();
  await expect(rows).toHaveText([/wind/, /moon/]);
  await expectAccessible(page);
  await screenshots(page, 'report-articles');

  await main(page).getByRole('link', { name: tides.title }).click();
  await expect(main(page).getByRole('heading', { name: tides.title })).toBeVisible();
  await main(page).getByRole('link', { name: '“moves the sea”' }).click();
  await expect(main(page).locator('mark')).toHaveText('moves the sea');
  await expectAccessible(page);
  await screenshots(page, 'report-article');
  await literature.ready();
  await literature.ask('What is this about?');
  await expect(literature.answers).toContainText('It is about tides.');
  const prompt = (await upstream.asked()).at(-1)!.messages[0]!.content;
  expect(prompt).toContain('Report: Sea level');
  expect(prompt).toContain(`Abstract:\n${tides.text}`);
  // The filter and the order are still there.
  await page.goBack();
  await page.goBack();
  await expect(rows).toHaveText([/wind/, /moon/]);

  const download = page.waitForEvent('download');
  await main(page).getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'RIS' }).click();
  expect((await download).suggestedFilename()).toBe('Sea level.ris');

  await main(page).getByRole('link', { name: 'All reports' }).click();
  await expect(main(page).getByRole('listitem')).toHaveCount(2);
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Reports' }).first()).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'reports');
  await main(page).getByRole('button', { name: 'Delete: Sea level' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(main(page).getByRole('listitem')).toHaveCount(1);
  await page.reload();
  await expect(main(page).getByRole('listitem')).toHaveCount(1);

  // From now on it is made by itself; its schedule shows what becomes of it.
  await upstream.script({ when: { user_contains: 'The wind moves' }, steps: [{ gate: 'again' }, { text: answer('wind') }] });
  await main(page).getByRole('link', { name: 'New report' }).click();
  await main(page).getByLabel('Stream').selectOption({ label: 'Sea level' });
  await main(page).getByRole('button', { name: 'Repeat on a schedule' }).click();
  const schedules = page.locator('#schedules');
  await expect(schedules.getByLabel('Name')).toHaveValue('Sea level');
  await schedules.getByRole('button', { name: 'Save' }).click();
  const entry = schedules.getByRole('listitem').filter({ hasText: 'Sea level' });
  await entry.getByRole('button', { name: 'Run now: Sea level' }).click();
  await expect(entry).toContainText('is under way');
  await screenshots(page, 'schedule-of-reports');
  await upstream.open('again');
  await expect(entry).not.toContainText('is under way');
  await entry.getByRole('link').last().click();
  await expect(main(page).getByText('2 found · 2 looked at · 2 relevant')).toBeVisible();
});
