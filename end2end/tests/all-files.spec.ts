/** All files of a person: their list, and what a deleted one leaves. */
import { expectAccessible } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test('all files are listed, found, and deleted where they are used', async ({ chat, newTab, page, parlor, upstream }) => {
  const settings = `${parlor.url}/settings/files`;
  await upstream.script({ steps: [{ text: 'Nice.' }] });
  await page.goto(settings);
  await expect(page.getByText('Nothing yet. Files that you attach')).toBeVisible();
  await screenshots(page, 'files-empty');

  const project = '01a2217b-0246-7346-8b45-a4bcd684a3d1';
  await page.request.put(`${parlor.url}/api/projects/${project}`, { data: { name: 'Garden', colour: 'green' } });
  await page.request.post(`${parlor.url}/api/projects/${project}/files?name=beds.txt`, { data: 'Bed 3 has tulips.' });
  await page.request.post(`${parlor.url}/api/files?name=draft.txt`, { data: 'Not sent.' });
  await chat.open();
  await chat.page.locator('.attach-input').setInputFiles([
    { name: 'Étude.txt', mimeType: 'text/plain', buffer: Buffer.from('A long study of the tides of the North Sea.') },
  ]);
  await chat.say('Look');
  await chat.done();
  await page.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
  const conversation = page.url();
  const other = await newTab();
  await other.page.goto(conversation);
  const question = other.page.getByRole('article', { name: 'You' });
  await expect(question.getByRole('link', { name: /Étude/ })).toBeVisible();

  const region = page.getByRole('region', { name: 'Settings' });
  const rows = region.locator('.file-row');
  await test.step('with the places where each is used', async () => {
    await page.goto(settings);
    await expect(rows).toHaveCount(3);
    await expect(rows.filter({ hasText: 'Étude' }).getByRole('link', { name: 'Look' })).toHaveAttribute('href', new URL(conversation).pathname);
    await expect(rows.filter({ hasText: 'beds' }).getByRole('link', { name: 'Garden' })).toHaveAttribute('href', `/project/${project}`);
    await expect(rows.filter({ hasText: 'draft' })).toContainText('not sent yet');
    await expect(region.getByText(/ of .* used/)).toBeVisible();
    await expectAccessible(page);
    await screenshots(page, 'files');
  });

  await test.step('by name and by size', async () => {
    await region.getByRole('searchbox').fill('etude');
    await expect(rows).toHaveText([/Étude/]);
    await region.getByRole('searchbox').fill('nothing');
    await expect(region.getByText('No file has these words in its name.')).toBeVisible();
    await region.getByRole('searchbox').fill('');
    await region.getByRole('combobox').selectOption('Smallest first');
    await expect(rows).toHaveText([/draft/, /beds/, /Étude/]);
  });

  await test.step('several are deleted, and their places say so', async () => {
    await region.getByRole('checkbox', { name: 'Choose Étude.txt' }).check();
    await region.getByRole('checkbox', { name: 'Choose draft.txt' }).check();
    await expect(region.getByText('2 files, ')).toBeVisible();
    await screenshots(page, 'files-chosen');
    await region.getByRole('group', { name: 'Chosen files' }).getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByText('Delete 2 files?')).toBeVisible();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(rows).toHaveText([/beds/]);
    // A page that shows it hears of it, and one that is loaded later shows the same.
    await expect(question.getByRole('note')).toHaveText('Deleted');
    await expect(question.getByRole('link', { name: /Étude/ })).toHaveCount(0);
    await screenshots(other.page, 'files-deleted');
    await other.reload();
    await expect(question.getByRole('note')).toHaveText('Deleted');
  });
});
