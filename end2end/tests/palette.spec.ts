/** What opens by a key: the palette and the sheet of shortcuts. */
import type { Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { runConversation } from '../support/events.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search' });
const field = (page: Page) => page.getByRole('combobox', { name: 'Search chats and actions' });
const found = (page: Page) => palette(page).getByRole('option');
/** Without what was found in texts: answers here repeat their questions. */
const titles = (page: Page) => palette(page).locator('[role=option]:not(.palette-found)');
const active = (page: Page) => palette(page).getByRole('option', { selected: true });
const sheet = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' });

async function search(page: Page, query: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type(query);
}

test.describe('with a list in pages of two', () => {
  // The end of the first page is out of sight.
  test.use({ settings: '[limits]\nconversations_page = 2', viewport: { width: 1280, height: 200 } });

  test('finds any conversation by words in any order', async ({ chat, page, parlor }) => {
    const names = ['Cafés in Österreich', 'Coffee', 'Tea in May', 'Instead', 'Tea in April', 'Bees'];
    for (const name of names) await runConversation(parlor.url, name);
    await chat.open();
    await search(page, 'OSTER cafe');
    await expect(titles(page)).toHaveText(['Cafés in Österreich']);
    await page.keyboard.press('Enter');
    await expect(chat.title).toHaveText('Cafés in Österreich');
    await expect(palette(page)).toHaveCount(0);
    await expect(chat.message).toBeFocused();

    await search(page, 'tea');
    await expect(titles(page), 'also those that the list has not loaded').toHaveText(['Tea in April', 'Tea in May']);
    await expect(active(page)).toHaveText('Tea in April');
    await page.keyboard.press('ArrowDown');
    await expect(active(page)).toHaveText('Tea in May');
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(await active(page).getAttribute('id'));
    await page.keyboard.press('Enter');
    await expect(chat.title).toHaveText('Tea in May');
  });
});

test.describe('with two models', () => {
  test.use({ models: ['small', 'large'] });

  test('acts by name, with the keyboard alone', async ({ chat, page }) => {
    const { keyboard } = page;
    await chat.open();
    await test.step('what is offered at first', async () => {
      await search(page, '');
      await expect(found(page).filter({ hasText: 'New chat' })).toContainText('Ctrl+Shift+O');
      await expect(found(page).filter({ hasText: 'chat' }).filter({ hasText: /Rename|Share|Delete/ })).toHaveCount(0);
      await expectAccessibleInBothThemes(page);
      await screenshots(page, 'palette');
      await keyboard.press('Control+k');
      await expect(palette(page)).toHaveCount(0);
      await expect(chat.message).toBeFocused();
    });
    await test.step('the theme', async () => {
      await search(page, 'dark');
      await keyboard.press('Enter');
      await expect(page.locator(':root')).toHaveAttribute('data-theme', 'dark');
      await expect(chat.message).toBeFocused();
    });
    await test.step('a page', async () => {
      await search(page, 'settings');
      await keyboard.press('Enter');
      await expect(chat.title).toHaveText('Settings');
    });
    await test.step('a new chat', async () => {
      await search(page, 'new');
      await keyboard.press('Enter');
      await expect(chat.title).toHaveText('New chat');
      await expect(chat.message).toBeFocused();
    });
    await test.step('a model', async () => {
      await search(page, 'model small');
      await expect(found(page)).toHaveText([/^small/]);
      await keyboard.press('Enter');
      await expect(chat.model).toHaveAccessibleName('Model: small');
    });
    await test.step('renaming, where the list is hidden', async () => {
      await chat.say('Plans');
      await chat.done();
      await search(page, 'hide list');
      await keyboard.press('Enter');
      await expect(chat.list).toBeHidden();
      await search(page, 'rename');
      await keyboard.press('Enter');
      const title = page.getByRole('dialog', { name: 'Rename this chat' }).getByRole('textbox');
      await expect(title).toBeFocused();
      await expect(title).toHaveValue('Plans');
      await screenshots(page, 'palette-rename');
      await keyboard.press('Control+a');
      await keyboard.type('Summer');
      await keyboard.press('Enter');
      await expect(chat.title).toHaveText('Summer');
      await expect(chat.message).toBeFocused();
    });
    await test.step('another answer', async () => {
      await search(page, 'again');
      await keyboard.press('Enter');
      await expect(chat.answers).toContainText('2/2');
      await chat.done();
    });
    await test.step('deleting', async () => {
      await search(page, 'delete');
      await keyboard.press('Enter');
      await expect(chat.title).toHaveText('New chat');
    });
    await test.step('nothing', async () => {
      await search(page, 'xyzzy');
      await expect(found(page)).toHaveCount(0);
      await expect(palette(page).getByRole('status')).toHaveText('Nothing found. Try fewer words, or the beginning of one.');
      await screenshots(page, 'palette-empty');
      await keyboard.press('Enter');
      await expect(palette(page), 'nothing is chosen').toBeVisible();
      await keyboard.press('Escape');
      await expect(palette(page)).toHaveCount(0);
    });
  });
});

test('shows the shortcuts', async ({ chat, page }) => {
  const { keyboard } = page;
  await chat.open();
  await keyboard.press('Control+/');
  await expect(sheet(page)).toContainText('Quote the selected text');
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'shortcuts');
  await keyboard.press('Escape');
  await expect(sheet(page)).toHaveCount(0);
  await expect(chat.message).toBeFocused();

  await keyboard.press('Shift+?');
  await expect(chat.message, 'the character belongs to the field').toHaveValue('?');
  await expect(sheet(page)).toHaveCount(0);
  await chat.newChat.focus();
  await keyboard.press('Shift+?');
  await expect(sheet(page)).toBeVisible();
  await keyboard.press('Control+k');
  await expect(palette(page), 'a dialog is open').toHaveCount(0);
});

test('the empty box leads to the last question', async ({ chat, page, upstream }) => {
  await upstream.script({ when: { user_contains: 'Go on' }, steps: [{ text: 'Well' }, { gate: 'never' }] });
  await chat.open();
  await chat.say('First');
  await chat.done();
  await chat.say('Second');
  await chat.done();
  await chat.message.fill('Draft');
  await chat.message.press('ArrowUp');
  const edit = page.getByRole('textbox', { name: 'Edit message' });
  await expect(chat.message).toBeFocused();
  await expect(edit).toHaveCount(0);
  await chat.message.fill('');
  await page.keyboard.press('ArrowUp');
  await expect(edit).toBeFocused();
  await expect(edit).toHaveValue('Second');
  await page.keyboard.press('Escape');
  await expect(edit).toHaveCount(0);
  await chat.say('Go on');
  await expect(chat.answers.last()).toContainText('Well');
  await chat.message.press('ArrowUp');
  await expect(chat.message, 'a run is active').toBeFocused();
  await expect(edit).toHaveCount(0);
});

test.describe('on a Mac', () => {
  test.beforeEach(({ page }) => page.addInitScript(() => Object.defineProperty(navigator, 'platform', { value: 'MacIntel' })));

  test('the keys are those of a Mac', async ({ chat, page }) => {
    await chat.open();
    await expect(chat.list.getByRole('button', { name: 'Search' })).toContainText('⌘K');
    await page.keyboard.press('Control+k');
    await expect(palette(page)).toHaveCount(0);
    await page.keyboard.press('Meta+k');
    await expect(field(page)).toBeFocused();
  });
});

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('opens from the list and covers the screen', async ({ chat, page, parlor }) => {
    await runConversation(parlor.url, 'Bees');
    await chat.openWithTouch();
    const menu = page.getByRole('button', { name: 'Conversations' });
    await menu.tap();
    await chat.list.getByRole('button', { name: 'Search' }).tap();
    await expect(field(page)).toBeFocused();
    await expect(chat.list).toBeHidden();
    // At the end of its opening, which moves it.
    await expect.poll(() => palette(page).boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
    await expectAccessible(page);
    await screenshots(page, 'palette-phone');
    await palette(page).getByRole('button', { name: 'Close' }).tap();
    await expect(palette(page)).toHaveCount(0);
    await expect(menu).toBeFocused();

    await menu.tap();
    await chat.list.getByRole('button', { name: 'Search' }).tap();
    await found(page).filter({ hasText: 'Keyboard shortcuts' }).tap();
    await expect(sheet(page)).toBeVisible();
    await screenshots(page, 'shortcuts-phone');
    await sheet(page).getByRole('button', { name: 'Close' }).tap();

    await menu.tap();
    await chat.list.getByRole('button', { name: 'Search' }).tap();
    await found(page).filter({ hasText: 'Bees' }).tap();
    await expect(chat.title).toHaveText('Bees');
  });
});
