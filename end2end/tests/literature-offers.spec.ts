/** Interaction of the chat and the page Literature; a PubMed that hangs or is switched off. */
import { expectAccessible } from '../support/accessibility.ts';
import { expect, test } from '../support/literature.ts';
import { storms, tides } from '../support/pubmed.ts';
import { screenshots } from '../support/screenshots.ts';

test('accepts a proposed query in the full chat', async ({ literature, page, upstream }) => {
  await upstream.script({
    when: { user_contains: 'better query' },
    steps: [{ text: 'Try this.\nQUERY_SUGGESTION: {"query": "tides[ti] AND moon", "explanation": "It is narrower."}\n' }],
  });
  await literature.open();
  await literature.ask('Suggest a better query');
  const panel = page.locator('#panel');
  await page.getByRole('button', { name: /^Open: / }).click();
  await expect(panel.getByText('tides[ti] AND moon')).toBeVisible();
  await literature.tray.getByRole('link', { name: 'Open in full chat' }).click();
  await expect(page).toHaveURL(/\/c\//);
  if (!(await panel.isVisible())) await page.getByRole('button', { name: /^Open: / }).click();
  await expect(panel.getByText('This opens the page Literature')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'literature-proposal-in-chat');
  await panel.getByRole('button', { name: 'Search in Literature' }).click();
  await expect(page).toHaveURL(/\/literature\?q=tides%5Bti%5D\+AND\+moon/);
  await expect(literature.query).toHaveValue('tides[ti] AND moon');
  await expect(literature.tray.getByText('Try this.')).toBeVisible();
  // The model sees its own proposal on every page.
  await literature.tray.getByRole('link', { name: 'Open in full chat' }).click();
  await expect(page).toHaveURL(/\/c\//);
  await literature.ask('And what did you propose?');
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  const messages = (await upstream.asked()).at(-1)!.messages;
  expect(messages.some(({ role, content }) => role === 'assistant' && content.includes('QUERY_SUGGESTION: {'))).toBe(true);
});

test('saves and opens the assistant’s articles from the panel', async ({ chat, literature, page, upstream }) => {
  await upstream.script({
    when: { user_contains: 'Find' },
    steps: [{ tool_call: { id: 'c', name: 'search_pubmed', arguments: '{"query":"tides"}' } }],
  });
  await upstream.script({ when: { tool_gave: 'PubMed has' }, steps: [{ text: 'Two.' }] });
  await chat.open();
  await chat.say('Find articles');
  await chat.done();
  const panel = page.locator('#panel');
  await expect(panel.getByText(storms.title)).toBeVisible();
  await panel.getByRole('button', { name: `Save “${tides.title}”` }).click();
  await expect(panel.getByRole('button', { name: `Saved “${tides.title}”` })).toHaveAttribute('aria-pressed', 'true');
  await expectAccessible(page);
  await screenshots(page, 'literature-panel-articles');
  // A click with a modifier key opens a tab; this one is unchanged.
  const link = panel.getByRole('link', { name: `Open here: “${storms.title}”` });
  const [another] = await Promise.all([page.context().waitForEvent('page'), link.click({ modifiers: ['ControlOrMeta'] })]);
  await expect(another).toHaveURL(/\/literature\/articles\/12/);
  await another.close();
  await expect(panel).toBeVisible();
  await expect(page).toHaveURL(/\/c\//);
  await link.click();
  await expect(page).toHaveURL(/\/literature\/articles\/12/);
  await expect(page.getByText(storms.text)).toBeVisible();
  await expect(panel).toHaveCount(0);
  await expect(literature.tray.getByText('Two.')).toBeVisible();
  await literature.tab('Saved').click();
  await expect(literature.entry(tides.title)).toBeVisible();
});

test('a hanging PubMed delays neither saving nor sending', async ({ literature, page, upstream }) => {
  await literature.open();
  await literature.search('tides');
  for (const program of ['esummary', 'efetch']) await upstream.hang(`/eutils/${program}.fcgi`);
  await literature.save(tides.title).click();
  await expect(literature.save(tides.title)).toHaveAttribute('aria-pressed', 'true');
  await literature.entry(tides.title).click();
  await literature.ask('What is this about?');
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
});

test('an unknown article URL does not block the tray', async ({ literature, page, browserLog }) => {
  browserLog.allow(/status of 404/);
  await literature.open('/literature/articles/11x');
  await expect(page.getByText('There is no article with the PMID 11x.')).toBeVisible();
  await expect(literature.tray.getByRole('button', { name: 'Help me to find a good query' })).toBeVisible();
  await literature.ask('Hello');
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  await literature.tray.getByRole('button', { name: 'New conversation' }).click();
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await literature.search('tides');
  await expect(literature.tray.getByRole('button', { name: 'Suggest a better query' })).toBeVisible();
  await literature.entry(tides.title).click();
  await expect(literature.tray.getByRole('button', { name: 'What is this about?' })).toBeVisible();
});

test.describe('without PubMed', () => {
  test.use({ settings: '[tools.pubmed]\nenabled = false\n' });

  test('says so and hides what needs it', async ({ literature, page }) => {
    await literature.open();
    await expect(page.getByText('PubMed can’t be searched here')).toBeVisible();
    await expect(page.getByText('tools.pubmed.enabled')).toBeVisible();
    await expect(literature.query).toHaveCount(0);
    await expectAccessible(page);
    await screenshots(page, 'literature-without-pubmed');
    await page.getByRole('link', { name: 'Show what you have saved' }).click();
    await expect(page.getByText('Nothing is saved yet')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Search PubMed' })).toHaveCount(0);
  });
});
