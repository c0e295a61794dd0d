/** Versions of a question, each with its own branch, and the deletion of a question. */
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test('an edited question is a version with its own branch', async ({ chat, upstream, newTab }) => {
  for (const word of ['first', 'better', 'second']) await upstream.script({ when: { user_contains: word }, steps: [{ text: `On ${word}.` }] });
  await chat.open();
  await chat.begin('first');
  await chat.done();
  await chat.say('second');
  await chat.done();
  const other = await newTab();
  await other.open(chat.path);

  const question = chat.questions.first();
  await question.hover();
  await question.getByRole('button', { name: 'Edit' }).click();
  const field = question.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('first');
  await screenshots(chat.page, 'versions-edit');
  await field.press('Escape');
  await expect(question.getByRole('button', { name: 'Edit' })).toBeFocused();
  // By keyboard.
  await chat.page.keyboard.press('Enter');
  await field.fill('better');
  await field.press('Enter');
  await expect(chat.questions).toHaveText([/better/]);
  await expect(chat.answers).toContainText('On better.');
  await chat.done();
  await expect(other.questions).toHaveText([/better/]);
  await screenshots(chat.page, 'versions');

  const versions = chat.questions.first().getByRole('group', { name: 'Versions' });
  await expect(versions).toContainText('2/2');
  await chat.questions.first().hover();
  await versions.getByRole('button', { name: 'Previous version' }).click();
  await expect(chat.questions).toHaveText([/first/, /second/]);
  await expect(other.questions).toHaveText([/first/, /second/]);
  await expect(versions).toContainText('1/2');
  await expect(versions.getByRole('button', { name: 'Next version' })).toBeFocused();
  await chat.reload();
  await expect(chat.questions).toHaveText([/first/, /second/]);
  await expect(versions).toContainText('1/2');
  // A later question has its own versions.
  await chat.questions.last().hover();
  await chat.questions.last().getByRole('button', { name: 'Edit' }).click();
  await chat.page.getByRole('textbox', { name: 'Edit message' }).fill('better second');
  await chat.page.getByRole('button', { name: 'Send', exact: true }).first().click();
  await expect(chat.questions).toHaveText([/first/, /better second/]);
});

test('a deleted question can be restored for some seconds', async ({ chat, upstream, newTab }) => {
  await upstream.script({ steps: [{ text: 'Well.' }] });
  await chat.open();
  await chat.begin('first');
  await chat.done();
  await chat.say('second');
  await chat.done();
  const other = await newTab();
  await other.open(chat.path);
  await chat.questions.last().hover();
  await chat.questions.last().getByRole('button', { name: 'Delete' }).click();
  await expect(chat.questions).toHaveText([/first/]);
  await expect(other.questions).toHaveText([/first/]);
  await screenshots(chat.page, 'deleted-message');
  await chat.page.getByRole('button', { name: 'Undo' }).click();
  await expect(chat.questions).toHaveText([/first/, /second/]);
  await expect(other.questions).toHaveText([/first/, /second/]);
  await expect(chat.answers).toHaveCount(2);
  await chat.questions.last().hover();
  await chat.questions.last().getByRole('button', { name: 'Delete' }).click();
  await expect(chat.questions).toHaveText([/first/]);
  await chat.reload();
  await expect(chat.questions).toHaveText([/first/]);
});

test('the field of an edit shows all lines', async ({ chat, page }) => {
  await chat.open();
  await chat.begin('One\ntwo\nthree\nfour');
  await chat.done();
  await chat.questions.hover();
  await chat.questions.getByRole('button', { name: 'Edit' }).click();
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toBeFocused();
  await expect.poll(() => field.evaluate((field) => field.scrollHeight - field.clientHeight), 'less than a line').toBeLessThan(10);
});
