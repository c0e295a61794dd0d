import { EventStream } from '../support/events.ts';
import { expectAccessible, expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { Settings } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

// An axe run takes a second or more, and these tests have many.
test.slow();

const RICH =
  '# Heading\n\nText with **bold**, `code` and a [link](https://example.com).[^1]\n\n- one\n- [x] two\n\n' +
  '| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nlet a_rather_long_line = "that is much wider than a telephone is, and then some more of it to be sure";\n```\n\n' +
  '> Quote\n\n[^1]: Note.\n\nAVeryLongWordThatHasNoPlaceToBreakAndIsWiderThanATelephoneAndGoesOnAndOnAndOnWithoutAnEnd';

test('a new chat is accessible in either theme', async ({ chat, page }) => {
  await chat.open();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'home');
});

test('running and finished answers are accessible in either theme', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ gate: 'start' }, { think: 'A thought' }, { gate: 'thought' }, { text: RICH }, { gate: 'rest' }] });
  await chat.open();
  await chat.say('Show');
  await upstream.reached('start');
  await expectAccessibleInBothThemes(page);
  await upstream.open('start');
  await expect(chat.answers).toContainText('A thought');
  await expectAccessibleInBothThemes(page);
  await upstream.open('thought');
  await expect(chat.answers).toContainText('WithoutAnEnd');
  await expectAccessibleInBothThemes(page);
  await upstream.open('rest');
  await chat.done();
  await chat.answers.getByText(/^Thought/).click();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'answer');
});

test('stopping, renaming, deleting and errors are accessible in either theme', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'never' }], times: 1 });
  await chat.open();
  await chat.begin('Hello');
  await expect(chat.answers).toContainText('Well');
  await chat.stop.click();
  await expect(chat.answers.getByText('Stopped', { exact: true })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await chat.press('Rename', 'Hello');
  await expectAccessibleInBothThemes(page);
  await page.keyboard.press('Escape');
  await chat.press('Select', 'Hello');
  await expect(chat.list.getByRole('checkbox', { name: 'Hello' })).toBeChecked();
  await expectAccessibleInBothThemes(page);
  await page.keyboard.press('Escape');
  await chat.press('Delete', 'Hello');
  await expect(chat.toast('Chat deleted.')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await chat.entry('Hello').click();
  await upstream.requireKey('sk-another');
  await chat.say('Again');
  await expect(chat.problem).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'problem');
});

test('the chosen colour scheme is kept', async ({ page }) => {
  const settings = new Settings(page);
  await settings.open();
  const background = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  const light = await background();
  await expect(settings.theme('System')).toBeChecked();
  await settings.theme('System').press('ArrowRight');
  await expect(settings.theme('Light')).toBeChecked();
  expect(await background()).toBe(light);
  await settings.theme('Dark').click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await settings.reload();
  await expect(settings.theme('Dark')).toBeChecked();
  expect(await background()).toBe(dark);
});

test('everything works with the keyboard alone', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'never' }] });
  const { keyboard } = page;
  const chooseByKeyboard = async (action: string, key: string) => {
    await keyboard.press(key);
    const item = chat.list.getByRole('menuitem', { name: action });
    await expect(chat.list.getByRole('menuitem').first()).toBeFocused();
    for (let presses = 0; presses < 9 && !(await item.evaluate((item) => item === document.activeElement)); presses++) {
      await keyboard.press('ArrowDown');
    }
    await keyboard.press('Enter');
  };
  await chat.open();

  await test.step('write and send', async () => {
    await keyboard.type('First line');
    await keyboard.press('Shift+Enter');
    await keyboard.type('second line');
    await keyboard.press('Enter');
    await expect(chat.questions).toContainText('First line\nsecond line', { useInnerText: true });
    await expect(chat.answers).toContainText('Well');
    await expect(chat.message).toBeFocused();
  });
  await test.step('stop', async () => {
    await chat.tabTo(chat.stop);
    await keyboard.press('Enter');
    await expect(chat.answers.getByText('Stopped', { exact: true })).toBeVisible();
    await expect(chat.message).toBeFocused();
  });
  const title = 'First line second line';
  await test.step('rename', async () => {
    await chat.tabTo(chat.entry(title), 'Shift+Tab');
    await chooseByKeyboard('Rename', 'ContextMenu');
    await expect(chat.list.getByRole('textbox')).toBeFocused();
    await keyboard.type('By hand');
    await keyboard.press('Enter');
    await expect(chat.title).toHaveText('By hand');
    await expect(chat.entry('By hand'), 'the focus is where it was').toBeFocused();
  });
  await test.step('pin', async () => {
    await chooseByKeyboard('Pin', 'Delete');
    await expect(chat.list.getByRole('heading', { name: 'Pinned' })).toBeVisible();
    await expect(chat.entry('By hand'), 'the focus stays with it').toBeFocused();
  });
  await test.step('new chat, and back', async () => {
    await keyboard.press('Control+Shift+O');
    await expect(chat.title).toHaveText('New chat');
    await expect(chat.message).toBeFocused();
    await chat.tabTo(chat.entry('By hand'), 'Shift+Tab');
    await keyboard.press('Enter');
    await expect(chat.title).toHaveText('By hand');
  });
  await test.step('delete', async () => {
    await chat.tabTo(chat.entry('By hand'), 'Shift+Tab');
    await chooseByKeyboard('Delete', 'Shift+F10');
    await expect(chat.entries).toHaveCount(0);
    await expect(chat.title).toHaveText('New chat');
    await expect(chat.message).toBeFocused();
  });
});

test('Enter of an input method sends nothing', async ({ chat }) => {
  await chat.open();
  await chat.message.fill('にほん');
  await chat.message.dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
  await expect(chat.message).toHaveValue('にほん');
  await expect(chat.questions).toHaveCount(0);
  await chat.message.press('Enter');
  await expect(chat.questions).toContainText('にほん');
});

test.describe('with touch input', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('conversations can be managed and text is large enough', async ({ chat, page, parlor }) => {
    for (const message of ['One', 'Two']) await (await EventStream.chat(parlor.url, { message })).rest();
    await chat.openWithTouch();
    await expect(chat.model).toHaveCSS('font-size', '16px');
    await page.getByRole('button', { name: 'Conversations' }).tap();
    for (const title of ['One', 'Two']) {
      await expect(chat.actions(title)).toBeVisible();
    }
    await screenshots(page, 'drawer');
    await expect(async () => {
      await chat.actions('One').tap();
      await chat.list.getByRole('menuitem', { name: 'Rename' }).tap({ timeout: 1000 });
      await expect(chat.list.getByRole('textbox')).toHaveCSS('font-size', '16px', { timeout: 1000 });
    }).toPass();
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the conversation list is a drawer', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Fine' }] });
    const menu = page.getByRole('button', { name: 'Conversations' });
    await chat.open();
    await expect(chat.list).toBeHidden();

    await menu.click();
    await chat.newChat.click();
    await expect(chat.list, 'the page is already open').toBeHidden();
    await chat.say('First');
    await chat.done();

    await menu.click();
    await expect(chat.entry('First')).toBeInViewport();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(chat.list).toBeHidden();
    await expect(menu).toBeFocused();

    await menu.click();
    await page.getByRole('button', { name: 'Close the list' }).click();
    await expect(chat.list).toBeHidden();

    await test.step('the drawer closes on navigation', async () => {
      await menu.click();
      await chat.entry('First').click();
      await expect(chat.list, 'the page is already open').toBeHidden();

      await menu.click();
      await chat.newChat.click();
      await expect(chat.list).toBeHidden();
      await expect(chat.title).toHaveText('New chat');

      await menu.click();
      await chat.entry('First').click();
      await expect(chat.list).toBeHidden();
      await expect(chat.answers).toContainText('Fine');
    });

    await test.step('Escape in a title leaves the drawer open', async () => {
      await menu.click();
      await chat.press('Rename', 'First');
      await page.keyboard.press('Escape');
      await expect(chat.list.getByRole('textbox')).toBeHidden();
      await waitForPaint(page);
      await expect(menu, 'which gets the focus when the drawer closes').not.toBeFocused();
      await expect(chat.entry('First')).toBeVisible();
    });
  });

  test('nothing is wider than the screen', async ({ chat, page, upstream }) => {
    const width = () => page.evaluate(() => document.scrollingElement!.scrollWidth);
    await upstream.script({ steps: [{ text: RICH }] });
    await chat.open();
    expect(await width()).toBe(390);
    await chat.say(`Show ${'wide'.repeat(40)}`);
    await chat.done();
    expect(await width()).toBe(390);
    const wider = await chat.messages.evaluate((log) => log.scrollWidth - log.clientWidth);
    expect(wider).toBe(0);
    await expectAccessible(page);
    await upstream.requireKey('sk-another');
    await chat.say('Again');
    await expect(chat.problem).toBeVisible();
    expect(await width()).toBe(390);
  });
});
