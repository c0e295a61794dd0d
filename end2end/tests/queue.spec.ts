/** Messages that are sent while an answer is being written. */
import { expect, test } from '../support/test.ts';
import { Chat } from '../support/chat.ts';
import { screenshots } from '../support/screenshots.ts';

const queue = (chat: Chat) => chat.page.getByRole('region', { name: 'Queued messages' });
const waiting = (chat: Chat) => queue(chat).getByRole('listitem');

async function enqueue(chat: Chat, text: string): Promise<void> {
  await chat.message.fill(text);
  await chat.message.press('Enter');
  await expect(waiting(chat).filter({ hasText: text })).toBeVisible();
  await expect(chat.message).toHaveValue('');
}

test.beforeEach(async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well.' }] });
  await upstream.script({ when: { user_contains: 'first' }, steps: [{ text: 'One' }, { gate: 'end' }, { text: ' two.' }] });
  await chat.open();
  await chat.begin('first');
  await expect(chat.answers).toContainText('One');
});

test('queued messages are changed and sent in order, in every tab', async ({ chat, newTab, upstream }) => {
  for (const text of ['red', 'green', 'blue', 'gray']) await enqueue(chat, text);
  const other = await newTab();
  await other.open(chat.path);
  await expect(waiting(other)).toHaveCount(4);

  await screenshots(chat.page, 'queue');
  // By pointer.
  await waiting(chat).nth(3).getByRole('button', { name: 'Move up' }).click();
  await expect(waiting(chat)).toHaveText([/red/, /green/, /gray/, /blue/]);
  await waiting(chat).nth(1).getByRole('button', { name: 'Remove' }).click();
  await expect(waiting(other)).toHaveText([/red/, /gray/, /blue/]);
  // By keyboard, in the other tab: the focus moves with the message.
  const down = waiting(other).nth(0).getByRole('button', { name: 'Move down' });
  await down.focus();
  await other.page.keyboard.press('Enter');
  await expect(waiting(chat)).toHaveText([/gray/, /red/, /blue/]);
  await expect(waiting(other).nth(1).getByRole('button', { name: 'Move down' })).toBeFocused();
  await waiting(other).nth(2).getByRole('button', { name: 'Edit' }).focus();
  await other.page.keyboard.press('Enter');
  const field = queue(other).getByRole('textbox');
  await expect(field).toBeFocused();
  await field.fill('navy');
  await field.press('Enter');
  await expect(waiting(chat)).toHaveText([/gray/, /red/, /navy/]);

  await upstream.open('end');
  await expect(chat.questions).toHaveText([/first/, /gray/, /red/, /navy/]);
  await expect(queue(chat)).toBeHidden();
  await expect(queue(other)).toBeHidden();
});

test('a stopped answer holds the queue until it is released', async ({ chat }) => {
  await enqueue(chat, 'second');
  await chat.page.keyboard.press('Escape');
  await expect(chat.answers).toContainText('Stopped');
  await expect(queue(chat)).toContainText('On hold');
  await screenshots(chat.page, 'queue-held');
  await chat.reload();
  await expect(waiting(chat)).toHaveText([/second/]);
  await queue(chat).getByRole('button', { name: 'Send now' }).click();
  await expect(chat.answers.last()).toContainText('Well.');
  await expect(chat.questions).toHaveText([/first/, /second/]);
});

test('Escape ends an edit before it stops the answer', async ({ chat, upstream }) => {
  await enqueue(chat, 'second');
  await waiting(chat).getByRole('button', { name: 'Edit' }).click();
  const field = queue(chat).getByRole('textbox');
  await field.fill('changed');
  await field.press('Escape');
  await expect(field).toBeHidden();
  await expect(waiting(chat)).toContainText('second');
  await expect(chat.stop).toBeVisible();
  // An edit that comes too late is not lost.
  await waiting(chat).getByRole('button', { name: 'Edit' }).click();
  await field.fill('a better question');
  await upstream.open('end');
  await expect(chat.questions).toHaveText([/first/, /second/]);
  await expect(chat.message).toHaveValue('a better question');
});

test('a long paste becomes a chip that is sent with the message', async ({ chat, upstream }) => {
  await upstream.open('end');
  await chat.done();
  const text = Array.from({ length: 40 }, (_, line) => `Line ${line} of the paste`).join('\n');
  await chat.message.fill('Compare this:');
  await chat.message.evaluate((field, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
  const chips = chat.page.getByRole('list', { name: 'Pasted texts' });
  await expect(chips).toContainText('Pasted text, 40 lines');
  await expect(chat.message).toHaveValue('Compare this:');
  await chips.getByText('Pasted text').click();
  await expect(chips.getByText('Line 39 of the paste')).toBeVisible();
  await screenshots(chat.page, 'paste');
  // It is part of the draft.
  await chat.reload();
  await expect(chips).toContainText('Pasted text, 40 lines');
  await chat.message.press('Enter');
  const question = chat.questions.last();
  await expect(question).toContainText('Compare this:');
  await expect(question).toContainText('Line 39 of the paste');
  await expect(chips).toBeHidden();
  await chat.done();
  await screenshots(chat.page, 'folded');
  await question.getByRole('button', { name: 'Show more' }).click();
  await expect(question.getByRole('button', { name: 'Show less' })).toBeVisible();
});
