/** Notes on saved articles. */
import { Literature, expect, test } from '../support/literature.ts';
import { tides } from '../support/pubmed.ts';

/** Saves an article and opens it. */
async function openSaved(literature: Literature): Promise<void> {
  await literature.open();
  await literature.search('sea');
  await literature.save(tides.title).click();
  await expect(literature.save(tides.title)).toHaveAttribute('aria-pressed', 'true');
  await literature.entry(tides.title).click();
}

test('an unsaved note survives navigation and reloads', async ({ literature, newTab, page }) => {
  await openSaved(literature);
  const note = page.getByRole('textbox', { name: 'Your note' });
  await note.fill('Half a thought');
  const other = new Literature((await newTab()).page);
  await other.open(new URL(page.url()).pathname);
  await expect(other.page.getByRole('textbox', { name: 'Your note' })).toHaveValue('Half a thought');
  await other.page.getByRole('textbox', { name: 'Your note' }).fill('Another.');
  await other.page.getByRole('button', { name: 'Save the note' }).click();
  await expect(page.getByText('The note was changed elsewhere to: “Another.”')).toBeVisible();
  await expect(note).toHaveValue('Half a thought');
  await note.fill('Half a thought, and the other half');
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await literature.entry(tides.title).click();
  await expect(note).toHaveValue('Half a thought, and the other half');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await expect(other.page.getByRole('textbox', { name: 'Your note' })).toHaveValue('Half a thought, and the other half');
  await expect(page.getByText('Meanwhile')).toHaveCount(0);
});

test('typing during a save is kept as the draft', async ({ literature, newTab, page }) => {
  await openSaved(literature);
  const note = page.getByRole('textbox', { name: 'Your note' });
  const save = page.getByRole('button', { name: 'Save the note' });
  let answer = () => {};
  let held = Promise.resolve();
  await page.route('**/rpc/set_article_note', async (route) => {
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  const saved = async (text: string) => {
    held = new Promise<void>((resolve) => (answer = resolve));
    await note.fill(text);
    await Promise.all([page.waitForRequest('**/rpc/set_article_note'), save.click()]);
  };
  await saved('One');
  await note.fill('One, two');
  answer();
  await expect(page.getByText('The note is saved.')).toBeVisible();
  await page.reload();
  await expect(note).toHaveValue('One, two');
  await expect(page.getByText('Meanwhile')).toHaveCount(0);
  // Leaving before the response does not undo the save.
  await saved('Three');
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await expect(note).toHaveCount(0);
  const [answered] = await Promise.all([page.waitForResponse('**/rpc/set_article_note'), answer()]);
  expect(answered.ok()).toBe(true);
  const other = new Literature((await newTab()).page);
  await other.open('/literature/articles/11');
  await other.page.getByRole('textbox', { name: 'Your note' }).fill('Four');
  await other.page.getByRole('button', { name: 'Save the note' }).click();
  await expect(other.page.getByText('The note is saved.')).toBeVisible();
  await literature.entry(tides.title).click();
  await expect(note).toHaveValue('Four');
  await expect(page.getByText('Meanwhile')).toHaveCount(0);
});

test('a draft keeps the version it was based on', async ({ literature, newTab, page }) => {
  await openSaved(literature);
  const note = page.getByRole('textbox', { name: 'Your note' });
  await note.fill('Half a thought');
  await page.getByRole('link', { name: 'Back to the list' }).click();
  const other = new Literature((await newTab()).page);
  await other.open('/literature/articles/11');
  await other.page.getByRole('textbox', { name: 'Your note' }).fill('Another.');
  await other.page.getByRole('button', { name: 'Save the note' }).click();
  await other.page.getByRole('textbox', { name: 'Your note' }).fill('Half a thought');
  await expect(other.page.getByText('The note is saved.')).toBeVisible();
  // The other tab has received the event and updated the base of its draft.
  const draftBase = () => other.page.evaluate(() => JSON.parse(localStorage.getItem('parlor-note:11') ?? '{}').of);
  await expect.poll(draftBase).toBe('Another.');
  await literature.entry(tides.title).click();
  await expect(note).toHaveValue('Half a thought');
  await page.reload();
  await expect(note).toHaveValue('Half a thought');
  await expect(page.getByText('Meanwhile')).toHaveCount(0);
});

test('a newer note from another tab is not overwritten', async ({ browserLog, literature, newTab, page }) => {
  browserLog.allowLostConnections();
  browserLog.allow(/status of 409/);
  await openSaved(literature);
  await page.route('**/rpc/events?*', (route) => route.abort());
  await page.reload();
  // The page is hydrated: it looks for its event stream.
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  const note = page.getByRole('textbox', { name: 'Your note' });
  const save = page.getByRole('button', { name: 'Save the note' });
  await note.fill('Mine');
  const other = new Literature((await newTab()).page);
  await other.open('/literature/articles/11');
  await other.page.getByRole('textbox', { name: 'Your note' }).fill('Theirs');
  await other.page.getByRole('button', { name: 'Save the note' }).click();
  await expect(other.page.getByText('The note is saved.')).toBeVisible();
  await save.click();
  await expect(page.getByText('This note was changed elsewhere meanwhile')).toBeVisible();
  await expect(page.getByText('The note was changed elsewhere to: “Theirs”')).toBeVisible();
  await expect(note).toHaveValue('Mine');
  // The user has seen the conflict, so the second save overwrites.
  await save.click();
  await expect(other.page.getByRole('textbox', { name: 'Your note' })).toHaveValue('Mine');
});
