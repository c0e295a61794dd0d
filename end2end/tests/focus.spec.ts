import { takeClock } from '../support/clock.ts';
import { EventStream, runConversation } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

const NOTES = `Text.[^1]\n\n${'A paragraph.\n\n'.repeat(60)}[^1]: The note.`;

test('the skip link leads to the composer', async ({ chat, page }) => {
  await chat.open();
  const entries = await page.evaluate(() => history.length);
  const skip = page.getByRole('link', { name: 'Skip to the message box' });
  await skip.focus();
  await page.keyboard.press('Enter');
  await expect(chat.message).toBeFocused();
  await expect(page).toHaveURL('/');
  expect(await page.evaluate(() => history.length)).toBe(entries);
});

test('a footnote moves the focus there and back', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: NOTES }] });
  await chat.open();
  const path = await chat.begin('Notes');
  await chat.done();
  const entries = await page.evaluate(() => history.length);
  await chat.answers.getByRole('link', { name: 'Footnote 1', exact: true }).click();
  const note = chat.answers.getByRole('note');
  await expect(note).toBeFocused();
  await expect(note).toBeInViewport();
  expect(await note.evaluate((note) => note.matches(':target'))).toBe(true);
  await note.getByRole('link', { name: 'Back to footnote 1 in the text' }).click();
  await expect(chat.answers.getByRole('link', { name: 'Footnote 1', exact: true })).toBeFocused();
  expect(await page.evaluate(() => history.length)).toBe(entries);
  expect(chat.path).toBe(path);
});

test('the focus is never lost', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Second' }] });
  await upstream.script({ steps: [{ text: 'First' }], times: 1 });
  await chat.open();
  await chat.begin('Try');
  await chat.done();

  await test.step('Regenerate', async () => {
    await chat.answers.getByRole('button', { name: 'Regenerate' }).press('Enter');
    await expect(chat.answers).toContainText('2/2');
    await expect(chat.message).toBeFocused();
    await chat.done();
  });
  await test.step('to and fro between the answers', async () => {
    const [previous, next] = ['Previous answer', 'Next answer'].map((name) => chat.answers.getByRole('button', { name }));
    await previous!.press('Enter');
    await expect(chat.answers).toContainText('1/2');
    await expect(next!, 'there is no other way').toBeFocused();
    await page.keyboard.press('Enter');
    await expect(chat.answers).toContainText('2/2');
    await expect(previous!).toBeFocused();
  });
  await test.step('Try again', async () => {
    await upstream.requireKey('sk-another');
    await chat.say('Again');
    await expect(chat.problem).toBeVisible();
    await expect(chat.answers.last().getByRole('button', { name: 'Copy', exact: true }), 'there is nothing to copy').toHaveCount(0);
    await upstream.requireKey('sk-test');
    await chat.problem.getByRole('button', { name: 'Try again' }).press('Enter');
    await expect(chat.problem).toHaveCount(0);
    await expect(chat.message).toBeFocused();
    await chat.done();
  });
  await test.step('deleting another conversation', async () => {
    await chat.begin('Another');
    await chat.done();
    await chat.press('Delete', 'Try');
    await expect(chat.titles).toHaveText(['Another']);
    await expect(chat.entry('Another')).toBeFocused();
  });
});

test('the list is one stop of Tab', async ({ chat, page, parlor }) => {
  const { keyboard } = page;
  for (const name of ['Ant', 'Bee', 'Cat']) await runConversation(parlor.url, name);
  const path = await runConversation(parlor.url, 'Dog');
  await chat.open();
  await chat.tabTo(chat.entry('Dog'), 'Shift+Tab');
  for (const [key, name] of [
    ['ArrowUp', 'Dog'],
    ['ArrowDown', 'Cat'],
    ['End', 'Ant'],
    ['ArrowDown', 'Ant'],
    ['ArrowUp', 'Bee'],
    ['Home', 'Dog'],
    ['ArrowDown', 'Cat'],
  ] as const) {
    await keyboard.press(key);
    await expect(chat.entry(name), key).toBeFocused();
  }
  await keyboard.press('Tab');
  await expect(chat.list.getByRole('link', { name: 'Settings' })).toBeFocused();
  await keyboard.press('Shift+Tab');
  await expect(chat.entry('Cat'), 'it comes back to the same row').toBeFocused();
  await (await EventStream.chat(parlor.url, { message: 'More', conversation_id: path.slice('/c/'.length) })).rest();
  await runConversation(parlor.url, 'Elk');
  await expect(chat.titles).toHaveText(['Elk', 'Dog', 'Cat', 'Bee', 'Ant']);
  await expect(chat.entry('Cat')).toBeFocused();
  await keyboard.press('Enter');
  await expect(chat.title).toHaveText('Cat');
});

test('a focused notification stays until it is dismissed', async ({ chat, page }) => {
  await takeClock(page);
  await chat.open();
  await chat.say('Hello');
  await chat.done();
  await chat.questions.hover();
  await chat.questions.getByRole('button', { name: 'Delete' }).click();
  const dismiss = page.getByRole('button', { name: 'Dismiss' });
  await dismiss.focus();
  await page.clock.fastForward(7000);
  await expect(dismiss).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dismiss).toHaveCount(0);
  await expect(chat.message).toBeFocused();
});

test('announces starts and ends, not old messages', async ({ chat, page, upstream }) => {
  await upstream.script({ when: { user_contains: 'two' }, steps: [{ text: 'Well' }, { gate: 'never' }] });
  await upstream.script({ steps: [{ text: 'One' }, { gate: 'rest' }], times: 1 });
  const said = page.getByRole('main').getByRole('status');
  await chat.open();
  await chat.begin('one');
  await expect(said.filter({ hasText: 'Answering' })).toHaveCount(1);
  await upstream.open('rest');
  await expect(said.filter({ hasText: 'Answer complete' })).toHaveCount(1);
  await chat.say('two');
  await expect(chat.answers.last()).toContainText('Well');
  await expect(said.filter({ hasText: 'Answering' })).toHaveCount(1);
  await chat.stop.click();
  await expect(said.filter({ hasText: 'Answer stopped' })).toHaveCount(1);
  await upstream.requireKey('sk-another');
  await chat.say('three');
  await expect(chat.problem.getByRole('alert')).toContainText('refused the API key');
  await chat.reload();
  await expect(chat.problem).toContainText('refused the API key');
  await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);
});

test('only scrollable blocks are in the Tab order', async ({ chat, upstream }) => {
  const table = '| a | b |\n|---|---|\n| 1 | 2 |\n\n';
  await upstream.script({ steps: [{ text: `${table}${table}\`\`\`\nshort\n\`\`\`\n\n\`\`\`\n${'long '.repeat(100)}\n\`\`\`\n` }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  await expect(chat.answers.locator('pre').nth(1)).toHaveAttribute('tabindex', '0');
  await expect(chat.answers.locator('pre').nth(0)).not.toHaveAttribute('tabindex');
  await expect(chat.answers.getByRole('group', { name: 'Table' })).toHaveCount(2);
  await expect(chat.answers.getByRole('region')).toHaveCount(0);
});
