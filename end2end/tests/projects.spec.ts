/** Projects: their page, their conversations in the list, moving and deleting. */
import { expectAccessible } from '../support/accessibility.ts';
import { runConversation } from '../support/events.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test('a project is made, has its files and chats, and is deleted', async ({ browserLog, chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'In autumn.' }] });
  await runConversation(parlor.url, 'Rain?');
  await chat.open();
  const dialog = page.getByRole('dialog');
  const project = chat.list.getByRole('link', { name: 'Garden', exact: true });

  await test.step('it is made in a form, and shown', async () => {
    await chat.list.getByRole('button', { name: 'New project' }).click();
    await expect(dialog.getByLabel('Name')).toBeFocused();
    await dialog.getByLabel('Name').fill('Garden');
    await dialog.getByRole('radio', { name: 'Green' }).check();
    await dialog.getByLabel('Instructions').fill('I grow vegetables in Denmark, on clay.');
    await expectAccessible(page);
    await screenshots(page, 'project-form');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await expect(page).toHaveURL(/\/project\//);
    await expect(chat.title).toHaveText('Garden');
    await expect(page.getByText('No chats yet. Begin one above')).toBeVisible();
  });

  await test.step('it has files', async () => {
    const files = page.getByRole('region', { name: 'Files' });
    const row = (name: string) => files.getByRole('listitem').filter({ hasText: name });
    browserLog.allow(/status of 400/);
    await files.getByLabel('Add files').setInputFiles([
      { name: 'beds.txt', mimeType: 'text/plain', buffer: Buffer.from('Bed 3 has tulips.') },
      { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
    ]);
    await expect(row('beds.txt').getByRole('link')).toBeVisible();
    await expect(row('empty.txt').getByRole('alert')).toContainText('empty');
    await screenshots(page, 'project-files');
    await row('empty.txt').getByRole('button', { name: 'Remove empty.txt' }).click();
    await expect(files.getByRole('listitem')).toHaveCount(1);
    await chat.reload();
    await row('beds.txt').getByRole('button', { name: 'Delete beds.txt' }).click();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(row('beds.txt')).toBeVisible();
  });

  await test.step('a chat begins in it', async () => {
    await chat.say('Tulips?');
    await page.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
    await chat.done();
    await expect(page.getByRole('banner').getByRole('link', { name: 'Garden' })).toBeVisible();
    const request = JSON.stringify(await upstream.asked());
    expect(request, 'the model has its file').toContain('Bed 3 has tulips.');
    await expect(chat.titles, 'it is folded').toHaveText(['Garden', 'Rain?']);
    await project.focus();
    await page.keyboard.press('ArrowRight');
    await expect(chat.titles).toHaveText(['Garden', 'Tulips?', 'Rain?']);
    await page.keyboard.press('ArrowDown');
    await expect(chat.entry('Tulips?')).toBeFocused();
  });

  await test.step('chats are moved by the keyboard', async () => {
    await page.keyboard.press('End');
    await expect(chat.entry('Rain?')).toBeFocused();
    await page.keyboard.press('m');
    await expect(dialog.getByRole('heading', { name: 'Move the chat to' })).toBeVisible();
    await screenshots(page, 'project-move');
    await dialog.getByRole('button', { name: 'Garden' }).press('Enter');
    await expect(chat.toast('Chat moved.')).toBeVisible();
    await expect(chat.titles).toHaveText(['Garden', 'Tulips?', 'Rain?']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(chat.list.getByRole('heading', { name: 'Today' })).toBeVisible();
  });

  await test.step('its page lists them', async () => {
    await project.click();
    await expect(page.getByRole('region', { name: 'Chats', exact: true }).getByRole('link')).toHaveText([/Tulips\?/]);
    await expectAccessible(page);
    await screenshots(page, 'project');
    await chat.reload();
    await expect(chat.titles, 'this browser remembers what is unfolded').toHaveText(['Garden', 'Tulips?', 'Rain?']);
  });

  await test.step('its deletion asks for its chats', async () => {
    await page.getByRole('main').getByRole('button', { name: 'Delete the project' }).click();
    await expect(dialog.getByText('What becomes of its chat?')).toBeVisible();
    await dialog.getByLabel('Delete the chats, too').check();
    await expectAccessible(page);
    await screenshots(page, 'project-deletion');
    await dialog.getByRole('button', { name: 'Delete the project' }).click();
    await expect(chat.title).toHaveText('New chat');
    await expect(chat.titles).toHaveText(['Rain?']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(chat.titles).toHaveText(['Tulips?', 'Rain?']);
  });
});

test('chats are dragged into a project and out of it, and moved together', async ({ chat, newTab, page, parlor }) => {
  for (const name of ['Ant', 'Bee', 'Cat']) await runConversation(parlor.url, name);
  const id = '01a2217b-0246-7346-8b45-a4bcd684a3d1';
  await page.request.put(`${parlor.url}/api/projects/${id}`, { data: { name: 'Animals', colour: 'blue' } });
  await chat.open();
  const other = await newTab();
  await other.open();
  const project = chat.list.getByRole('link', { name: 'Animals', exact: true });
  await expect(chat.titles).toHaveText(['Animals', 'Cat', 'Bee', 'Ant']);

  await chat.entry('Bee').dragTo(project);
  for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Animals', 'Cat', 'Ant']);
  await chat.list.getByRole('button', { name: 'Show the chats of Animals' }).click();
  await expect(chat.titles).toHaveText(['Animals', 'Bee', 'Cat', 'Ant']);
  await screenshots(page, 'project-list');
  await chat.entry('Bee').dragTo(chat.entry('Ant'));
  await expect(chat.list.getByText('No chats yet.')).toBeVisible();
  for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Animals', 'Cat', 'Bee', 'Ant']);

  await chat.press('Select', 'Ant');
  await chat.list.getByRole('checkbox', { name: 'Cat' }).click();
  await screenshots(page, 'selection');
  await chat.list.getByRole('button', { name: 'More for the selected chats' }).click();
  await page.getByRole('menuitem', { name: 'Move to a project…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Animals' }).click();
  await expect(chat.toast('2 chats moved.')).toBeVisible();
  await expect(chat.titles).toHaveText(['Animals', 'Cat', 'Ant', 'Bee']);
});
