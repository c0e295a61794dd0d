/** The room of the parts: nothing covers what is read, and the actions stay in reach. */
import { expectAccessible } from '../support/accessibility.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const LETTER = JSON.stringify({ title: 'Letter', text: 'Dear Ann' });

test('the panel leaves room for the chat or covers it', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: `Here:\n\nDOCUMENT: ${LETTER}\n\nGood?` }] });
  await chat.open();
  await chat.begin('Write a letter');
  await chat.done();
  const panel = page.locator('#panel');
  await expect(panel.getByText('Dear Ann')).toBeVisible();
  const edge = page.getByRole('separator', { name: 'Width of the panel' });
  await edge.focus();
  await page.keyboard.press('End');
  const stage = async () => Math.round((await page.locator('.stage').boundingBox())!.width);
  for (const width of [1280, 1100, 1088]) {
    await page.setViewportSize({ width, height: 720 });
    await expect(edge).toBeVisible();
    expect(await stage(), `at ${width}`).toBeGreaterThanOrEqual(480);
  }
  // A toast does not cover the panel.
  await page.setViewportSize({ width: 1280, height: 720 });
  await chat.questions.last().hover();
  await chat.questions.last().getByRole('button', { name: 'Delete' }).click();
  const toast = (await page.locator('.toast').boundingBox())!;
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(chat.answers).toHaveCount(1);
  expect(toast.x + toast.width).toBeLessThanOrEqual(280 + (await stage()));
  await screenshots(page, 'panel-room');
  await page.setViewportSize({ width: 1080, height: 720 });
  await expect(page.getByRole('dialog', { name: /Letter/ })).toBeVisible();
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await expect(chat.answers).toBeVisible();
});

test('the list next to the chat can be hidden, also after a reload', async ({ chat, page }) => {
  await chat.open();
  const hide = page.getByRole('button', { name: 'Hide the list' });
  await hide.focus();
  await page.keyboard.press('Enter');
  await expect(chat.list).toBeHidden();
  expect(await page.locator('.stage').boundingBox()).toMatchObject({ x: 0, width: 1280 });
  await expect(page.getByRole('banner').getByRole('link', { name: 'New chat' })).toBeVisible();
  await screenshots(page, 'list-hidden');
  await chat.reload();
  await expect(chat.list).toBeHidden();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show the list' }).click();
  await expect(chat.list).toBeVisible();
  await chat.reload();
  await expect(chat.list).toBeVisible();
});

test('what is open follows the window', async ({ chat, page }) => {
  await chat.open();
  await chat.model.click();
  const list = page.getByRole('dialog', { name: /model/i });
  await expect(list).toBeVisible();
  await page.setViewportSize({ width: 640, height: 720 });
  await expect
    .poll(async () => {
      const { x, width } = (await list.boundingBox())!;
      return x >= 0 && x + width <= 640;
    })
    .toBe(true);
  await page.keyboard.press('Escape');
  // The drawer of a narrow window does not cover a wide one.
  await page.getByRole('button', { name: 'Conversations' }).click();
  await page.setViewportSize({ width: 1280, height: 720 });
  await expect.poll(async () => (await chat.list.boundingBox())!.width).toBe(260);
  await chat.model.click();
  await expect(list).toBeVisible();
});

test('a late font moves no column', async ({ chat, page }) => {
  let arrives = () => {};
  const held = new Promise<void>((resolve) => (arrives = resolve));
  await page.route('**/*.woff2', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/', { waitUntil: 'commit' });
  await chat.ready();
  const columns = () => page.locator('.composer-box, .suggestions').evaluateAll((parts) => parts.map((part) => {
    const { left, right } = part.getBoundingClientRect();
    return [left, right];
  }));
  const before = await columns();
  expect(await page.evaluate(() => document.fonts.status)).toBe('loading');
  arrives();
  await page.evaluate(() => document.fonts.ready);
  expect(await page.evaluate(() => document.fonts.check('16px Inter'))).toBe(true);
  expect(await columns()).toEqual(before);
});

test('the button of the tray covers nothing', async ({ page }) => {
  await page.goto('/literature');
  const button = (await page.getByRole('button', { name: 'Ask about this page' }).boundingBox())!;
  const scene = (await page.locator('.scene').boundingBox())!;
  expect(scene.y + scene.height).toBeLessThanOrEqual(button.y);
  await screenshots(page, 'literature-button');
});

test.describe('with a long model name', () => {
  test.use({ models: ['a-model-with-a-name-that-is-much-longer-than-others'] });

  test('the actions stay on one line', async ({ chat, page }) => {
    await chat.open();
    await chat.say('Hello');
    await chat.done();
    const foot = chat.answers.locator('.message-foot');
    for (const width of [1280, 768, 390, 320]) {
      await test.step(`the actions stay on one line at ${width}`, async () => {
        await page.setViewportSize({ width, height: 844 });
        await waitForPaint(page);
        const tops = await foot.getByRole('button').evaluateAll((buttons) => buttons.map((button) => Math.round(button.getBoundingClientRect().top)));
        expect(new Set(tops).size).toBe(1);
        const wider = await foot.evaluate((foot) => foot.scrollWidth - foot.clientWidth);
        expect(wider).toBe(0);
        await foot.hover();
        await screenshots(page, `actions-${width}`);
      });
    }
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('a new chat is one press away', async ({ chat, page }) => {
    await chat.open();
    await chat.say('Hello');
    await chat.done();
    await page.getByRole('banner').getByRole('link', { name: 'New chat' }).click();
    await expect(chat.title).toHaveText('New chat');
    await expectAccessible(page);
  });
});
