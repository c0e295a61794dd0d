/** What can be done with a message: branches, answers of other models, copies, quotations. */
import { expectAccessible } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.beforeEach(async ({ context, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await upstream.script({ when: { user_contains: 'second' }, steps: [{ text: 'On second.' }] });
  await upstream.script({ when: { user_contains: 'first' }, steps: [{ text: 'On **first**.\n\n- one\n- two' }] });
});

test('an answer and a question become new conversations', async ({ chat, page }) => {
  await chat.open();
  const source = await chat.begin('first');
  await chat.done();
  await chat.say('second');
  await chat.done();

  // By pointer.
  await chat.answers.first().hover();
  await chat.answers.first().getByRole('button', { name: 'More', exact: true }).click();
  const menu = page.getByRole('menu', { name: 'More' });
  await expect(menu.getByRole('menuitem').first()).toBeFocused();
  await expect(menu.getByRole('menuitem', { name: 'Download conversation as notebook' })).toBeHidden();
  await expectAccessible(page);
  await screenshots(page, 'answer-menu');
  await menu.getByRole('menuitem', { name: 'Branch into a new conversation' }).click();
  await expect(chat.title).toHaveText('first (branch)');
  await expect(chat.questions).toHaveText([/first/]);
  await expect(chat.answers).toHaveCount(1);
  const branch = chat.path;
  expect(branch).not.toBe(source);
  await chat.say('second');
  await chat.done();
  await expect(chat.answers.last()).toContainText('On second.');
  await chat.reload();
  await expect(chat.questions).toHaveText([/first/, /second/]);

  // Of a question, what leads up to it; the question becomes the draft. By keyboard.
  await chat.questions.last().getByRole('button', { name: 'Branch' }).focus();
  await page.keyboard.press('Enter');
  await expect(chat.questions).toHaveText([/first/]);
  await expect(chat.message).toHaveValue('second');
  await chat.open(source);
  await expect(chat.questions).toHaveText([/first/, /second/]);
});

test('an answer is deleted without its question', async ({ chat, page }) => {
  await chat.open();
  await chat.begin('first');
  await chat.done();
  await chat.say('second');
  await chat.done();
  const remove = async () => {
    await chat.answers.first().getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete, with all that follows' }).click();
    await expect(chat.questions).toHaveText([/first/]);
    await expect(chat.answers).toHaveCount(0);
  };
  await remove();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(chat.questions).toHaveText([/first/, /second/]);
  await expect(chat.answers.last()).toContainText('On second.');
  await remove();
  await screenshots(page, 'answer-deleted');
  await chat.reload();
  await expect(chat.questions).toHaveText([/first/]);
  await chat.say('second');
  await chat.done();
  await expect(chat.questions).toHaveText([/first/, /second/]);
});

test.describe('with two models', () => {
  test.use({ models: ['large', 'small'] });

  test('another model answers in one step', async ({ chat, page }) => {
    await chat.open();
    await chat.begin('first');
    await chat.done();
    await chat.answers.last().getByRole('button', { name: 'Answer with another model' }).click();
    const field = page.getByRole('combobox', { name: 'Find a model' });
    await expect(field).toBeFocused();
    await screenshots(page, 'answer-with-model');
    await field.fill('small');
    await field.press('Enter');
    await expect(chat.answers.getByRole('group', { name: 'Answers' })).toContainText('2/2');
    await chat.done();
    await expect(chat.answers.locator('.model')).toHaveText('small');
  });
});

test('an answer is copied as Markdown or as text', async ({ chat, page }) => {
  await chat.open();
  await chat.begin('first');
  await chat.done();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const more = chat.answers.getByRole('button', { name: 'More', exact: true });
  await more.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Copy as Markdown' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(copied).toBe('On first.\n\n- one\n- two');
  await expect(page.getByRole('menu')).toBeHidden();
  await expect(more).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Copy as Markdown' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect.poll(copied).toBe('On **first**.\n\n- one\n- two');
});

test('a selection is quoted in the reply', async ({ chat, page }) => {
  await chat.open();
  await chat.begin('first');
  await chat.done();
  await chat.message.fill('See:');
  const select = () => chat.answers.last().locator('.prose p').first().selectText();
  await select();
  const quote = page.getByRole('button', { name: 'Quote' });
  await expect(quote).toBeInViewport();
  await expectAccessible(page);
  await screenshots(page, 'quote');
  await quote.click();
  await expect(chat.message).toHaveValue('See:\n\n> On first.\n\n');
  await expect(chat.message).toBeFocused();
  await expect(quote).toBeHidden();
  await chat.message.fill('');
  await select();
  await expect(quote).toBeVisible();
  await page.keyboard.press('Control+Shift+U');
  await expect(chat.message).toHaveValue('> On first.\n\n');
  // The draft is that of typed text.
  await chat.reload();
  await expect(chat.message).toHaveValue('> On first.\n\n');
});

test('the quote button follows its selection', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'A paragraph.\n\n'.repeat(60) }] });
  await chat.open();
  await chat.begin('Long');
  await chat.done();
  const paragraphs = chat.answers.locator('.prose p');
  await paragraphs.nth(50).selectText();
  const quote = page.getByRole('button', { name: 'Quote' });
  const distance = async () => (await quote.boundingBox())!.y - (await paragraphs.nth(50).boundingBox())!.y;
  await expect(quote).toBeVisible();
  const scroll = (by: number) => page.getByRole('region', { name: 'Messages' }).evaluate((region, by) => region.scrollBy(0, by), by);
  const before = await distance();
  await scroll(-100);
  await expect.poll(distance).toBeCloseTo(before, 0);
  await scroll(-2000);
  await expect(quote).toBeHidden();
  await scroll(2000);
  await expect(quote).toBeVisible();
});

test.describe('with touch', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('menu and quotation work with touch', async ({ chat, page }) => {
    await chat.openWithTouch();
    await chat.message.fill('first');
    await chat.send.tap();
    await chat.done();
    await chat.answers.locator('.prose p').first().selectText();
    await page.getByRole('button', { name: 'Quote' }).tap();
    await expect(chat.message).toHaveValue('> On first.\n\n');
    await chat.answers.getByRole('button', { name: 'More', exact: true }).tap();
    await screenshots(page, 'answer-menu-touch');
    await page.getByRole('menuitem', { name: 'Branch into a new conversation' }).tap();
    await expect(chat.title).toHaveText('first (branch)');
  });
});
