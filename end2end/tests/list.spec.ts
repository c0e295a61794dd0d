/** The list of conversations: pinned, archived, selected, deleted and restored. */
import { runConversation } from '../support/events.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test('chats are pinned, archived and deleted in every tab', async ({ chat, newTab, page, parlor }) => {
  for (const name of ['Ant', 'Bee', 'Cat']) await runConversation(parlor.url, name);
  await chat.open();
  const other = await newTab();
  await other.open();
  const group = (name: string) =>
    chat.list.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) }).locator('.item-title');

  await chat.press('Pin', 'Ant');
  await expect(group('Pinned')).toHaveText(['Ant']);
  for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Ant', 'Cat', 'Bee']);

  await test.step('by the keyboard', async () => {
    await chat.entry('Cat').focus();
    await page.keyboard.press('p');
    await expect(group('Pinned')).toHaveText(['Cat', 'Ant']);
    await expect(chat.entry('Cat'), 'the focus goes with the row').toBeFocused();
    await page.keyboard.press('p');
    await expect(group('Pinned')).toHaveText(['Ant']);
    await expect(chat.entry('Cat')).toBeFocused();
    await page.keyboard.press('e');
    for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Ant', 'Bee']);
    await expect(chat.entry('Bee'), 'the next row has the focus').toBeFocused();
  });

  await test.step('the archive has what left the list', async () => {
    await chat.list.getByRole('button', { name: 'Actions for the list' }).click();
    await page.getByRole('menuitem', { name: 'Archived chats' }).click();
    await expect(chat.titles).toHaveText(['Cat']);
    await screenshots(page, 'archive');
    await chat.entry('Cat').focus();
    await page.keyboard.press('e');
    await expect(chat.list.getByText('Nothing is archived.')).toBeVisible();
    await chat.list.getByRole('button', { name: 'Back to the chats' }).click();
    await expect(chat.titles).toHaveText(['Ant', 'Cat', 'Bee']);
  });

  await chat.press('Delete', 'Cat');
  for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Ant', 'Bee']);
  await expect(chat.toast('Chat deleted.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Ant', 'Cat', 'Bee']);
});

test('several chats are selected and changed at once', async ({ chat, page, parlor }) => {
  for (const name of ['Ant', 'Bee', 'Cat', 'Dog', 'Elk']) await runConversation(parlor.url, name);
  await chat.open();
  const box = (name: string) => chat.list.getByRole('checkbox', { name });
  await chat.press('Select', 'Dog');
  await expect(box('Dog')).toBeChecked();
  await expect(box('Dog')).toBeFocused();
  await box('Bee').click({ modifiers: ['Shift'] });
  await expect(chat.list.getByText('3 selected')).toBeVisible();
  await page.keyboard.press('Home');
  await page.keyboard.press('Space');
  await expect(box('Elk')).toBeChecked();
  await page.keyboard.press('Space');
  await screenshots(page, 'selection');
  await chat.list.getByRole('button', { name: 'Archive', exact: true }).click();
  await expect(chat.titles).toHaveText(['Elk', 'Ant']);
  await expect(chat.toast('3 chats archived.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(chat.titles).toHaveText(['Elk', 'Dog', 'Cat', 'Bee', 'Ant']);

  await chat.entry('Elk').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('ControlOrMeta+a');
  await expect(chat.list.getByText('5 selected')).toBeVisible();
  const all = chat.list.getByRole('button', { name: 'Select all' });
  for (const selected of ['0 selected', '5 selected']) {
    await all.press('Enter');
    await expect(chat.list.getByText(selected)).toBeVisible();
    await expect(all).toBeFocused();
  }
  await page.keyboard.press('Escape');
  await expect(chat.entries).toHaveCount(5);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Search chats and actions' })).toBeFocused();
  await page.keyboard.type('mark all');
  await page.keyboard.press('Enter');
  await expect(chat.list.getByText('has something new')).toHaveCount(0);
});
