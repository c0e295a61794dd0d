/** The page Literature, and the tray next to it. */
import { expectAccessible, expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { Literature, expect, test } from '../support/literature.ts';
import { waitForPaint } from '../support/paint.ts';
import { placeArticles, storms, tides } from '../support/pubmed.ts';
import { screenshots } from '../support/screenshots.ts';

test('searches, asks about an article and saves it everywhere', async ({
  literature,
  page,
  newTab,
  upstream,
}) => {
  await upstream.script({
    when: { user_contains: 'Save it' },
    steps: [{ tool_call: { id: 'c', name: 'save_article', arguments: '{"pmid":"11","note":"Read the methods."}' } }],
  });
  await upstream.script({ when: { tool_gave: 'among the saved' }, steps: [{ text: 'It is saved.' }] });
  const other = new Literature((await newTab()).page);
  await other.open('/literature/saved');
  await expect(other.page.getByText('Nothing is saved yet')).toBeVisible();

  await literature.open();
  await literature.search('tides');
  await expect(page.getByText('2 articles')).toBeVisible();
  await literature.entry(tides.title).click();
  await expect(page.getByText(tides.text)).toBeVisible();
  expect(new URL(page.url()).pathname).toBe('/literature/articles/11');
  await literature.ask('What is this about?');
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  const prompt = (await upstream.asked()).at(-1)!.messages[0]!.content;
  expect(prompt).toContain(tides.text);
  expect(prompt).toContain(storms.title);
  await screenshots(page, 'literature-article');

  await literature.ask('Save it');
  await expect(literature.tray.getByText(`${tides.title} (PMID 11)`)).toBeVisible();
  await expectAccessible(page);
  await literature.tray.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(literature.answers.getByText('It is saved.')).toBeVisible();
  await expect(literature.save(tides.title)).toHaveAttribute('aria-pressed', 'true');
  await expect(other.entry(tides.title)).toBeVisible();

  await literature.tab('Saved').click();
  await expect(literature.entries).toHaveCount(1);
  await page.reload();
  await expect(literature.entry(tides.title)).toBeVisible();
  await expect(page.getByText('Read the methods.', { exact: true })).toBeVisible();
  await screenshots(page, 'literature-saved');
});

test('saved articles can be found, removed, restored and annotated', async ({ literature, page }) => {
  await literature.open();
  await literature.search('sea');
  for (const { title } of [tides, storms]) {
    await literature.save(title).click();
    await expect(literature.save(title)).toHaveAttribute('aria-pressed', 'true');
  }
  // A saved article says so, and its button's name too.
  await expectAccessibleInBothThemes(page);
  await expect(page.getByRole('button', { name: `Saved “${tides.title}”` })).toHaveText('Saved');
  await literature.tab('Saved').click();
  await expect(literature.entries).toHaveCount(2);
  // Where the system chooses the colours, too, one tab is marked.
  await page.emulateMedia({ forcedColors: 'active' });
  const line = (tab: string) => literature.tab(tab).evaluate((link) => getComputedStyle(link).borderBottomColor);
  expect(await line('Search')).not.toBe(await line('Saved'));
  await page.emulateMedia({ forcedColors: 'none' });
  await literature.filter.fill('wind');
  await expect(literature.entries).toHaveCount(1);
  await expect(page.getByText('1 of 2 saved')).toBeVisible();
  await page.reload();
  await expect(literature.filter).toHaveValue('wind');
  await literature.ready();
  await literature.save(storms.title).click();
  await expect(page.getByText('0 of 1 saved')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(literature.entry(storms.title)).toBeVisible();

  await literature.entry(storms.title).click();
  await page.getByRole('textbox', { name: 'Your note' }).fill('Windy.');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await expect(page.getByText('The note is saved.')).toBeVisible();
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await expect(literature.entries.getByText('Windy.')).toBeVisible();
});

test('a research stream is saved, run, changed and deleted', async ({
  literature,
  page,
  upstream,
}) => {
  await literature.open();
  await literature.search('tides');
  await page.getByRole('button', { name: 'Save as a stream' }).click();
  await expect(page).toHaveURL(/\/stream\/new/);
  const form = page.locator('#edit_stream');
  await expect(form.getByLabel('Query for PubMed')).toHaveValue('tides');
  await form.getByLabel('Name').fill('Sea level');
  await form.getByLabel('Instructions for reading').fill('Mind the methods.');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page).toHaveURL(/\/stream\/[0-9a-f-]{36}/);
  await literature.open('/literature');
  await literature.streams.getByRole('link', { name: 'Sea level' }).click();
  await expect(literature.streams.getByRole('link', { name: 'Sea level' })).toHaveAttribute('aria-current', 'true');
  await literature.ask('What matters here?');
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  const prompt = (await upstream.asked()).at(-1)!.messages[0]!.content;
  expect(prompt.split('# Instructions')[1]).toContain('Mind the methods.');

  await literature.search('storms');
  await expect(page.getByRole('region', { name: 'Open stream' })).toHaveCount(0);
  await literature.streams.getByRole('link', { name: 'Sea level' }).click();
  await expect(literature.query).toHaveValue('tides');
  await page.getByRole('link', { name: 'Edit the stream' }).click();
  await form.getByLabel('Name').fill('Tides');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The stream is saved.')).toBeVisible();
  await literature.open('/literature?q=tides');
  await expect(literature.streams.getByRole('link', { name: 'Tides' })).toBeVisible();
  await literature.streams.getByRole('link', { name: 'Tides' }).click();
  await screenshots(page, 'literature-stream');

  await page.getByRole('link', { name: 'Edit the stream' }).click();
  await form.getByRole('button', { name: 'Delete' }).click();
  await form.getByRole('button', { name: 'Delete permanently' }).click();
  await expect(page).toHaveURL(/\/streams$/);
  await expect(page.getByText('There are no streams yet')).toBeVisible();
});

test('the server renders every view at its URL', async ({ literature, page, browser, browserLog, parlor }) => {
  browserLog.allow(/status of 404/);
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = new Literature(await context.newPage());
  await plain.page.goto(`${parlor.url}/literature?q=tides`);
  await expect(plain.entries).toHaveCount(2);
  await plain.entry(tides.title).click();
  await expect(plain.page.getByText(tides.text)).toBeVisible();
  await plain.tab('Search').click();
  await plain.query.fill('storms');
  await plain.query.press('Enter');
  await expect(plain.page).toHaveURL(/q=storms/);
  await context.close();

  await literature.open('/literature/articles/12?q=sea');
  await expect(page).toHaveTitle(/Literature · Parlor/);
  await expect(page.getByText(storms.text)).toBeVisible();
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await expect(literature.entries).toHaveCount(2);
  await page.goBack();
  await expect(page.getByText(storms.text)).toBeVisible();
  expect((await page.goto('/literature/what'))!.status()).toBe(404);
  await expect(page.getByText('There is nothing at this address.')).toBeVisible();
  expect((await page.goto('/literature/articles/99'))!.status()).toBe(404);
  await expect(page.getByText('There is no article with the PMID 99.')).toBeVisible();
});

test('explains empty results and PubMed failures', async ({
  literature,
  page,
  browserLog,
  upstream,
}) => {
  browserLog.allow(/status of 503/);
  await literature.open();
  await expect(page.getByText('Find articles, and keep those that matter')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'literature-empty');
  await placeArticles(upstream, 0, []);
  await literature.query.fill('nothing');
  await literature.query.press('Enter');
  await expect(page.getByText('Nothing was found')).toBeVisible();
  await upstream.page('/eutils/esearch.fcgi', '<html>');
  await literature.query.fill('broken');
  await literature.query.press('Enter');
  await expect(page.getByText('The search did not work')).toBeVisible();
  await placeArticles(upstream, 41);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('41 articles · page 1 of 3')).toBeVisible();
  await page.getByRole('link', { name: 'Next page' }).click();
  await expect(page.getByText('41 articles · page 2 of 3')).toBeVisible();
  await expect(page).toHaveURL(/page=2/);
});

test('a suggested query fills the search box', async ({
  literature,
  page,
  upstream,
}) => {
  await upstream.script({
    when: { user_contains: 'better query' },
    steps: [{ text: 'Try this.\nQUERY_SUGGESTION: {"query": "tides[ti] AND moon", "explanation": "It is *narrower*."}\n' }],
  });
  await upstream.script({
    when: { user_contains: 'read first' },
    steps: [{ text: 'Read [the first](/literature/articles/11?q=tides).\nSUGGESTED_ACTIONS: [{"label": "Open it", "action": "open", "handler": "client", "data": {"page": "literature", "article_id": "12"}}]' }],
  });
  await literature.open();
  await literature.search('tides');
  await literature.ask('Suggest a better query');
  const panel = page.locator('#panel');
  await page.getByRole('button', { name: /^Open: / }).click();
  await expect(panel.locator('.proposal-new')).toHaveText('tides[ti] AND moon');
  await expect(panel.locator('em')).toHaveText('narrower');
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'literature-suggestion');
  await panel.getByRole('button', { name: 'Accept' }).click();
  await expect(panel).toHaveCount(0);
  await expect(literature.query).toHaveValue('tides[ti] AND moon');
  await expect(literature.query).toBeFocused();
  await expect(page).toHaveURL(/q=tides%5Bti%5D\+AND\+moon/);
  await literature.ask('Which should I read first?');
  await literature.answers.getByRole('button', { name: 'Open it' }).click();
  await expect(page.getByText(storms.text)).toBeVisible();
  await expect(page).toHaveURL(/\/literature\/articles\/12\?q=tides/);
  // A link in the answer opens the same here, with the conversation beside it.
  await literature.answers.getByRole('link', { name: 'the first' }).click();
  await expect(page).toHaveURL(/\/literature\/articles\/11/);
  await expect(literature.answers.getByRole('link', { name: 'the first' })).toBeVisible();
});

test('in a wide window the panel opens beside page and tray', async ({ literature, page, upstream }) => {
  const letter = JSON.stringify({ title: 'Letter', text: 'Dear Ann' });
  await upstream.script({ when: { user_contains: 'Write' }, steps: [{ text: `Here:\n\nDOCUMENT: ${letter}\n\nGood?` }] });
  await page.setViewportSize({ width: 1720, height: 900 });
  await literature.open();
  await literature.ask('Write a letter');
  const panel = page.locator('#panel');
  await expect(panel.getByText('Dear Ann')).toBeVisible();
  const box = async (selector: string) => (await page.locator(selector).boundingBox())!;
  const [content, shown, tray] = [await box('#literature'), await box('#panel'), await box('.tray')];
  expect(content.x + content.width).toBeLessThanOrEqual(shown.x);
  expect(shown.x + shown.width).toBeLessThanOrEqual(tray.x + 1);
});

test('the panel overlays the page next to the tray', async ({ literature, page, upstream }) => {
  const letter = JSON.stringify({ title: 'Letter', text: 'Dear Ann' });
  await upstream.script({ when: { user_contains: 'Write' }, steps: [{ text: `Here:\n\nDOCUMENT: ${letter}\n\nGood?` }] });
  await literature.open();
  await literature.ask('Write a letter');
  const panel = page.locator('#panel');
  await expect(page.getByRole('button', { name: /^Open: / })).toBeVisible();
  await expect(panel, 'it does not cover what is read').toHaveCount(0);
  await page.getByRole('button', { name: /^Open: / }).click();
  await expect(panel.getByText('Dear Ann')).toBeVisible();
  const edge = page.getByRole('separator', { name: 'Width of the panel' });
  const width = async () => Math.round((await panel.boundingBox())?.width ?? 0);
  await edge.focus();
  await page.keyboard.press('End');
  const tray = (await literature.tray.boundingBox())!;
  // A part of the page stays visible next to it.
  await expect.poll(width).toBe(tray.x - 32);
  await expect(edge).toHaveAttribute('aria-valuemax', String(tray.x - 32));
  await expect(edge).toHaveAttribute('aria-valuenow', String(tray.x - 32));
  await page.keyboard.press('ArrowRight');
  await expect.poll(width).toBe(tray.x - 64);
  await screenshots(page, 'panel-next-to-tray');
});

test('the tray is the same chat as the full page', async ({
  literature,
  chat,
  page,
}) => {
  await literature.open();
  await expect(literature.message).toBeFocused();
  await literature.ask('What is this about?');
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  expect(new URL(page.url()).pathname).toBe('/literature');
  await page.reload();
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  await literature.message.fill('a draft');
  await literature.message.press('Escape');
  await expect(literature.tray).toHaveCount(0);
  await expect(literature.openTray).toBeFocused();
  await page.keyboard.press('Control+.');
  await expect(literature.message).toHaveValue('a draft');
  await literature.tray.getByRole('button', { name: 'New conversation' }).click();
  await expect(literature.message).toHaveValue('');
  await literature.tray.getByRole('combobox', { name: 'Conversation', exact: true }).selectOption({ label: 'What is this about?' });
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
  await literature.tray.getByRole('link', { name: 'Open in full chat' }).click();
  await expect(chat.title).toHaveText('What is this about?');
  await expect(chat.message).toHaveValue('a draft');
  await page.goBack();
  await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the tray covers the screen and traps the focus', async ({ literature, page }) => {
    await literature.open('/literature?q=tides');
    await expect(page.getByRole('dialog', { name: 'Chat' })).toBeVisible();
    await expect(page.locator('.stage')).toHaveAttribute('inert');
    await literature.ask('What is this about?');
    await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Close the chat' }).click();
    await expect(literature.tray).toHaveCount(0);
    await expect(literature.entries).toHaveCount(2);
    await expectAccessible(page);
  });

  test('a reload does not open the tray over the page', async ({ literature, page }) => {
    await literature.open('/literature?q=tides');
    await expect(literature.tray).toBeVisible();
    // The page opens its event stream after hydration, with the restored panels.
    const hydrated = page.waitForRequest('**/rpc/events?*');
    await page.reload();
    await hydrated;
    await waitForPaint(page);
    await expect(literature.tray).toHaveCount(0);
    await expect(page.locator('.stage')).not.toHaveAttribute('inert');
    await expect(literature.entries).toHaveCount(2);
    await literature.openTray.click();
    await expect(literature.message).toBeFocused();
    await page.setViewportSize({ width: 1280, height: 844 });
    await page.reload();
    await expect(literature.tray, 'a wide window restores the tray').toBeVisible();
  });

  test('a tray conversation continues in the full chat', async ({ literature, chat, page }) => {
    await literature.open('/literature?q=tides');
    await literature.ask('What is this about?');
    await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
    await literature.tray.getByRole('link', { name: 'Open in full chat' }).click();
    await expect(chat.title).toHaveText('What is this about?');
    await expect(page.locator('.stage')).not.toHaveAttribute('inert');
    await chat.say('And?');
    await chat.done();
  });

  test('a query accepted in the tray shows on the page', async ({ literature, page, upstream }) => {
    await upstream.script({
      when: { user_contains: 'better query' },
      steps: [{ text: 'Try this.\nQUERY_SUGGESTION: {"query": "tides[ti]", "explanation": "It is narrower."}\n' }],
    });
    await literature.open('/literature?q=tides');
    await literature.ask('Suggest a better query');
    await page.getByRole('button', { name: /^Open: / }).click();
    await page.locator('#panel').getByRole('button', { name: 'Accept' }).click();
    await expect(literature.tray).toHaveCount(0);
    await expect(literature.query).toHaveValue('tides[ti]');
    await expect(literature.query).toBeFocused();
  });
});
