import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

test.describe('without resumption', () => {
  test.use({ settings: '[agent]\nmax_resumptions = 0' });

  test('an interrupted answer continues in the same text', async ({ chat, parlor, upstream }) => {
    const code = 'fn main() {\n    prin';
    await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ think: 'Where was I?' }, { text: 'tln!("hi");\n}\n```\n\nThat is all.' }] });
    await upstream.script({ when: { user_contains: 'program' }, times: 1, steps: [{ text: `Here:\n\n\`\`\`rust\n${code}` }, { gate: 'never' }] });
    await chat.open();
    await chat.begin('a program');
    await expect(chat.answers.locator('code')).toContainText('prin');
    await parlor.kill();
    await parlor.start();
    await chat.reload();
    await expect(chat.answers).toContainText('The answer was interrupted.');
    await chat.answers.getByRole('button', { name: 'Continue' }).click();
    await chat.done();
    await expect(chat.answers, 'the same answer').toHaveCount(1);
    await expect(chat.answers.locator('pre code'), 'one block of code').toHaveText('fn main() {\n    println!("hi");\n}\n');
    await expect(chat.answers).toContainText('That is all.');
    await expect(chat.answers).not.toContainText('interrupted');
    const live = await chat.answers.locator('.prose').allInnerTexts();
    await chat.reload();
    expect(await chat.answers.locator('.prose').allInnerTexts()).toEqual(live);
  });
});

test('only the last stopped answer can be continued', async ({ chat, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ text: ' end.' }] });
  await upstream.script({ when: { user_contains: 'tell' }, times: 1, steps: [{ text: 'The beginning and the' }, { gate: 'never' }] });
  await chat.open();
  await chat.begin('tell me');
  await expect(chat.answers).toContainText('The beginning and the');
  await chat.stop.click();
  await chat.answers.getByRole('button', { name: 'Continue' }).click();
  await expect(chat.answers.getByText('The beginning and the end.', { exact: true })).toBeVisible();
  await chat.done();
  await expect(chat.answers.getByRole('button', { name: 'Continue' })).toHaveCount(0);
  await expect(chat.answers).not.toContainText('Stopped');
});
