/** A project that is shared for reading: two people side by side, until the reader is removed. */
import { expectAccessible } from '../support/accessibility.ts';
import { makeAccount, makeFirstAccount } from '../support/accounts.ts';
import { Chat } from '../support/chat.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.use({ environment: { PARLOR_AUTH: 'password' } });

test('a reader sees a project until it is not shared any more', async ({ browser, browserLog, chat, page, parlor, upstream }) => {
  browserLog.allow(/status of 40[04]|net::ERR_FAILED/);
  await upstream.script({ steps: [{ text: 'In autumn.' }] });
  await page.goto('/');
  await makeFirstAccount(page, parlor, 'ann');
  await chat.ready();
  const context = await browser.newContext({ baseURL: parlor.url });
  const reader = await context.newPage();
  await page.goto('/settings/invitations');
  await page.getByRole('button', { name: 'Make an invitation link' }).click();
  const invitation = page.getByRole('textbox', { name: 'Link' });
  await expect(invitation).toHaveValue(/\/invitation\//);
  await reader.goto(new URL(await invitation.inputValue()).pathname);
  await makeAccount(reader, 'ben');
  const other = new Chat(reader);
  await other.ready();
  await expect(other.list.getByText('Shared with you')).toHaveCount(0);

  await page.goto('/');
  await chat.ready();
  const dialog = page.getByRole('dialog');
  await chat.list.getByRole('button', { name: 'New project' }).click();
  await dialog.getByLabel('Name').fill('Garden');
  await dialog.getByLabel('Instructions').fill('Answer for clay in Denmark.');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(page).toHaveURL(/\/project\//);
  const project = page.url();
  await page.getByRole('region', { name: 'Files' }).getByLabel('Add files').setInputFiles([
    { name: 'beds.txt', mimeType: 'text/plain', buffer: Buffer.from('Bed 3 has tulips.') },
  ]);
  await chat.say('Tulips?');
  await page.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
  await chat.done();
  await page.goto(project);
  await chat.ready();

  await test.step('the owner names a reader', async () => {
    await page.route('**/rpc/project_readers*', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'Share the project' }).click();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await expect(dialog.getByText('Only you.')).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Try again' })).toBeHidden();
    await dialog.getByLabel('Names of people here').fill('nobody');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await expect(dialog.getByRole('alert')).toContainText('There is nobody here with the name');
    await dialog.getByLabel('Names of people here').fill('ben');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await expect(dialog.getByRole('button', { name: 'Remove ben' })).toBeVisible();
    await expectAccessible(page);
    await screenshots(page, 'project-readers');
    await expect(chat.list.getByRole('link', { name: 'Garden Shared with one person' })).toBeVisible();
    await expect(page.locator('.project-welcome').getByText('Shared with one person')).toBeVisible();
  });

  const link = other.list.getByRole('link', { name: /^Garden/ });
  await test.step('the reader finds it in the open page, and reads it', async () => {
    await expect(other.list.getByRole('heading', { name: 'Shared with you' })).toBeVisible();
    await reader.keyboard.press('Control+k');
    await reader.getByRole('combobox', { name: 'Search chats and actions' }).fill('gard');
    await reader.getByRole('option', { name: /Garden.*Project of.*ann/ }).click();
    await expect(other.title).toHaveText('Garden');
    await expect(link).toHaveAttribute('aria-current', 'page');
    await expect(reader.getByText('Answer for clay in Denmark.')).toBeVisible();
    await expect(reader.getByRole('link', { name: 'beds.txt' })).toBeVisible();
    await expect(other.message).toBeHidden();
    await expectAccessible(reader);
    await screenshots(reader, 'shared-project');
    const download = reader.waitForEvent('download');
    await reader.getByRole('link', { name: 'beds.txt' }).click();
    expect((await download).suggestedFilename()).toBe('beds.txt');
    await reader.getByRole('region', { name: 'Chats' }).getByRole('link', { name: /Tulips\?/ }).click();
    await expect(reader).toHaveURL(/\/shared\//);
    await expect(reader.getByRole('article', { name: 'Answer' })).toContainText('In autumn.');
    await expect(reader.getByRole('textbox')).toHaveCount(0);
    await reader.getByRole('link', { name: 'Back to the project' }).click();
    await expect(reader.getByText('Answer for clay in Denmark.')).toBeVisible();
  });

  await test.step('removal ends it in open pages', async () => {
    const second = await context.newPage();
    await second.goto(reader.url());
    await second.getByRole('region', { name: 'Chats' }).getByRole('link', { name: /Tulips\?/ }).click();
    await expect(second.getByRole('article', { name: 'Answer' })).toContainText('In autumn.');
    await reader.getByRole('button', { name: 'Leave' }).focus();
    await dialog.getByRole('button', { name: 'Remove ben' }).click();
    await expect(dialog.getByText('Only you.')).toBeVisible();
    await expect(chat.list.getByRole('link', { name: 'Garden', exact: true })).toBeVisible();
    await expect(reader.getByRole('alert')).toContainText('This project is no longer shared with you');
    await expect(reader.locator('#shared-project')).toBeFocused();
    await expect(link).toHaveCount(0);
    await expect(second.getByRole('alert')).toContainText('This conversation is no longer shared');
    await screenshots(reader, 'shared-project-ended');
    await reader.reload();
    await expect(reader.getByRole('alert')).toContainText('There is no project at this address');
  });
  await context.close();
});
