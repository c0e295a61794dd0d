import { expectAccessible } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const described = [
  {
    id: 'vendor/seer',
    name: 'Seer',
    created: 3,
    context_length: 1_048_576,
    architecture: { input_modalities: ['text', 'image', 'file'] },
    supported_parameters: ['tools', 'reasoning'],
    reasoning: { mandatory: false, supported_efforts: ['low', 'high'] },
    pricing: { prompt: '0.00000125', completion: '0.00001' },
  },
  {
    id: 'vendor/plain',
    name: 'Plain',
    created: 2,
    context_length: 8192,
    architecture: { input_modalities: ['text'] },
    supported_parameters: [],
    pricing: { prompt: '0', completion: '0' },
  },
  { id: 'claude-haiku-4-5', created: 1 },
];

test.use({ models: [described, { scope: 'test' }] });

test.describe('with another endpoint that is down', () => {
  test.use({ environment: { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } });

  test('shows what models can do, and the dead endpoint', async ({ chat, page }) => {
    await chat.open();
    await expect(chat.model).toHaveAccessibleName('Model: Seer');
    await chat.model.click();
    const list = page.getByRole('listbox', { name: 'Models' });
    const living = list.getByRole('group', { name: 'openai' });
    await expect(living.getByRole('option')).toHaveCount(3);
    await expect(living.getByRole('option', { name: 'Seer sees images, reads PDF, thinks, uses tools, 1M tokens · $1.25 in, $10 out per million' })).toBeVisible();
    await expect(living.getByRole('option', { name: 'Plain 8k tokens · free' })).toBeVisible();
    const dead = list.getByRole('group', { name: 'anthropic' });
    await expect(dead).toContainText('nothing answers there (connection refused)');
    await expectAccessible(page);
    await screenshots(page, 'model-picker');
  });
});

test('finds by typing, with the keyboard alone', async ({ chat, page }) => {
  await chat.open();
  await chat.model.focus();
  await page.keyboard.press('Enter');
  const field = page.getByRole('combobox', { name: 'Find a model' });
  await expect(field).toBeFocused();
  await field.fill('haiku claude');
  await expect(page.getByRole('option')).toHaveText([/^claude-haiku-4-5/]);
  await expect(page.getByRole('dialog').getByRole('status')).toHaveText('1 model');
  await field.fill('');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option', { selected: true })).toHaveAccessibleName(/^Plain/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(chat.model).toHaveAccessibleName('Model: Plain');
  await expect(chat.model).toBeFocused();
});

test('offers the thinking that the model takes', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Fine' }] });
  await chat.open();
  const dialog = page.getByRole('dialog', { name: 'How the model answers' });
  await chat.openParameters();
  await expect(dialog.getByLabel('Thinking').getByRole('option')).toHaveText(['Model default', 'Off', 'Low', 'High']);
  await dialog.getByLabel('Thinking').selectOption('High');
  await screenshots(page, 'thinking-levels');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('does not take the thinking')).toHaveCount(0);

  await chat.chooseModel('claude-haiku-4-5');
  await expect(page.getByText('claude-haiku-4-5 does not take the thinking “high”. It gets “24,000 tokens”.')).toBeVisible();
  await screenshots(page, 'thinking-fallback');
  await chat.openParameters();
  await dialog.getByLabel('Thinking budget').fill('5000');
  await screenshots(page, 'thinking-budget');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('does not take the thinking')).toHaveCount(0);

  await chat.chooseModel('Plain');
  await expect(page.getByText('Plain can’t think. The thinking “5,000 tokens” is not sent.')).toBeVisible();
  await chat.say('Hello');
  await chat.done();
  expect((await upstream.asked()).at(-1)).not.toHaveProperty('reasoning_effort');
});

test.describe('of many models', () => {
  test.use({
    models: [
      Array.from({ length: 340 }, (_, index) => ({
        ...described[index % 2]!,
        id: `vendor-${index % 7}/model-with-a-rather-long-name-${index}`,
        name: `Model ${index}`,
        created: 1000 - index,
      })),
      { scope: 'test' },
    ],
  });

  test('finds one of many models', async ({ chat, page }) => {
    await chat.open();
    await chat.model.click();
    await expect(page.getByRole('option')).toHaveCount(340);
    await chat.page.getByRole('combobox', { name: 'Find a model' }).fill('name-299');
    await expect(page.getByRole('option')).toHaveCount(1);
    await screenshots(page, 'model-picker-found');
    await page.getByRole('option').click();
    await expect(chat.model).toHaveAccessibleName('Model: Model 299');
  });

  test('keeps favourites and the last used ones at the top', async ({ chat, page }) => {
    await chat.open();
    await chat.chooseModel('Model 200');
    await chat.model.click();
    const list = page.getByRole('listbox', { name: 'Models' });
    const field = page.getByRole('combobox', { name: 'Find a model' });
    await expect(list.getByRole('group', { name: 'Last used' }).getByRole('option')).toHaveText([/^Model 200/]);

    await field.fill('name-339');
    await list.getByRole('option').hover();
    await list.getByRole('option').locator('.model-star').click();
    await expect(list.getByRole('option', { name: /^Model 339 .*favourite/ })).toBeVisible();
    await field.fill('name-123');
    const star = page.getByRole('button', { name: 'Favourite' });
    await expect(star).toHaveAttribute('aria-pressed', 'false');
    await star.press('Enter');
    await expect(star).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('Escape');

    await page.reload();
    await chat.ready();
    await chat.model.click();
    await expect(list.getByRole('group').first()).toHaveAccessibleName('Favourites');
    await expect(list.getByRole('group', { name: 'Favourites' }).getByRole('option')).toHaveText([/^Model 339/, /^Model 123/]);
    await expect(page.getByRole('option'), 'each is listed once').toHaveCount(340);
    await expectAccessible(page);
    for (const width of [1280, 390, 320]) {
      await page.keyboard.press('Escape');
      await page.setViewportSize({ width, height: 720 });
      await chat.model.click();
      await expect(field).toBeInViewport();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, 'nothing sticks out').toBeLessThanOrEqual(width);
      const cut = await list.evaluate((element) => element.scrollWidth > element.clientWidth);
      expect(cut, 'no row is cut').toBe(false);
      if (process.env.PARLOR_SCREENSHOTS) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: `${process.env.PARLOR_SCREENSHOTS}/model-picker-many-${width}-${colorScheme}.png` });
        }
      }
    }
    // It was opened in a higher window.
    await page.setViewportSize({ width: 640, height: 400 });
    for (const part of [field, star]) await expect(part).toBeInViewport({ ratio: 1 });
    await page.getByRole('link', { name: 'Add a model' }).click();
    await expect(page.getByRole('heading', { name: 'Models', exact: true })).toBeVisible();
    await expect(list).toHaveCount(0);
  });
});

test('shows tokens and cost of answer and conversation', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Fine' }] });
  await chat.open();
  await chat.say('Hello');
  await chat.done();
  await chat.say('Again');
  await chat.done();
  await page.getByRole('button', { name: /^Context window/ }).click();
  const figures = page.locator('#gauge-figures');
  await expect(figures.getByRole('heading', { name: 'This answer' })).toBeVisible();
  await expect(figures.getByRole('heading', { name: 'This conversation' })).toBeVisible();
  await expect(figures.getByText(/^Cost: \$0\.0/)).toHaveCount(2);
  await expectAccessible(page);
  await screenshots(page, 'token-totals');
});
