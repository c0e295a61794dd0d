/** The pages *Streams* and *Edit stream*: a form that is edited with the assistant beside it. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, test } from '../support/literature.ts';
import type { Upstream } from '../support/upstream.ts';
import { screenshots } from '../support/screenshots.ts';

const suggestion =
  'STREAM_SUGGESTIONS: {"name": "Tides and the moon", "purpose": "To follow what moves the sea.", "query": "tides[ti] AND moon", "explanation": "The query is *narrower*."}';

async function suggests(upstream: Upstream): Promise<void> {
  await upstream.script({ when: { user_contains: 'Suggest' }, steps: [{ text: `Try this:\n${suggestion}\n` }] });
}

const form = (page: Page) => page.locator('#edit_stream');

test('a part of a proposal goes into the form, and is saved by the person', async ({ literature, page, upstream }) => {
  await suggests(upstream);
  await literature.open('/stream/new');
  await form(page).getByLabel('Query for PubMed').fill('tides');
  await expect(form(page).getByText('articles in PubMed')).toBeVisible();
  await literature.ask('Suggest a better query');
  const card = literature.answers.locator('.proposal');
  await expect(card.locator('.proposal-old')).toHaveText('tides');
  await expectAccessible(page);
  await screenshots(page, 'edit-stream-proposal');

  await card.getByRole('checkbox', { name: 'Name' }).uncheck();
  await literature.answers.getByRole('button', { name: 'Accept (2 of 3)' }).click();
  await expect(form(page).getByLabel('Query for PubMed')).toHaveValue('tides[ti] AND moon');
  await expect(form(page).getByLabel('Purpose')).toHaveValue('To follow what moves the sea.');
  await expect(form(page).getByLabel('Name')).toHaveValue('');
  await expect(literature.answers.getByText('Accepted in part').first()).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(form(page).getByLabel('Query for PubMed')).toHaveValue('tides');

  // What is not saved survives a reload, and the assistant sees it.
  await form(page).getByLabel('Name').fill('Sea level');
  await page.reload();
  await expect(form(page).getByLabel('Name')).toHaveValue('Sea level');
  await expect(form(page).getByText('Not saved.')).toBeVisible();
  await literature.ready();
  await literature.ask('Thanks');
  // The row of an answer is there before the model is asked.
  const prompt = async () => (await upstream.asked()).at(-1)!.messages[0]!.content;
  await expect.poll(prompt).toContain('name: Sea level');
  expect(await prompt()).toContain('accepted of it only: purpose, query');

  await form(page).getByRole('button', { name: 'Add a field' }).click();
  await form(page).getByLabel('Field 1').fill('height');
  await form(page).getByLabel('Question 1').fill('How high is the tide?');
  await form(page).getByRole('button', { name: 'Save' }).click();
  await expect(page).toHaveURL(/\/stream\/[0-9a-f-]{36}/);
  await page.getByRole('link', { name: 'All streams' }).click();
  await expect(page.getByRole('link', { name: 'Sea level', exact: true })).toBeVisible();
  await screenshots(page, 'streams');
});

test('a field that changed since is not accepted by itself', async ({ literature, page, upstream }) => {
  await suggests(upstream);
  await literature.open('/stream/new');
  await literature.ask('Suggest a stream');
  await expect(literature.answers.locator('.proposal')).toBeVisible();
  await form(page).getByLabel('Name').fill('My own name');
  await expect(literature.answers.getByText('Changed here since this was proposed.')).toBeVisible();
  await literature.answers.getByRole('button', { name: 'Accept (2 of 3)' }).click();
  await expect(form(page).getByLabel('Name')).toHaveValue('My own name');
  await expect(form(page).getByLabel('Query for PubMed')).toHaveValue('tides[ti] AND moon');
});

test('a suggestion on the list opens a new stream', async ({ literature, page, upstream }) => {
  await suggests(upstream);
  await literature.open('/streams');
  await literature.ask('Suggest a stream for me');
  await literature.answers.getByRole('button', { name: 'Open as a new stream' }).click();
  await expect(page).toHaveURL(/\/stream\/new/);
  await expect(form(page).getByLabel('Name')).toHaveValue('Tides and the moon');
  await expect(literature.answers.getByText('Try this:')).toBeVisible();
});
