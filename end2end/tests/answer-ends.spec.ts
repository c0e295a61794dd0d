// Incomplete answers, and answers in other formats than OpenAI's.
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import { chunk } from '../support/upstream.ts';

test('an answer at the length limit can be continued', async ({ chat, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ text: ' and the end.' }] });
  await upstream.script({ when: { user_contains: 'tell' }, times: 1, steps: [{ text: 'The beginning' }, { finish: 'length' }] });
  await chat.open();
  await chat.begin('tell me');
  await chat.done();
  const told = chat.answers.getByRole('group', { name: 'Problem' });
  await expect(told).toContainText('The answer reached the length limit');
  await screenshots(chat.page, 'longest-length');
  await chat.reload();
  await expect(told, 'it is stored').toContainText('The answer reached the length limit');
  await told.getByRole('button', { name: 'Continue' }).click();
  await expect(chat.answers.getByText('The beginning and the end.', { exact: true })).toBeVisible();
  await chat.done();
  await expect(told).toHaveCount(0);
  await expect(chat.answers.getByRole('button', { name: 'Continue' })).toHaveCount(0);
});

test('thinking without an answer is reported', async ({ chat, upstream }) => {
  await upstream.script({ when: { user_contains: 'think' }, steps: [{ think: 'Hm.' }, { finish: 'stop' }] });
  await chat.open();
  await chat.begin('think');
  await chat.done();
  const told = chat.answers.getByRole('group', { name: 'Problem' });
  await expect(told).toContainText('The model thought but gave no answer.');
  await expect(told.getByRole('button', { name: 'Continue' })).toBeVisible();
  await expect(told.getByRole('button', { name: 'Try again' })).toBeVisible();
});

test('thinking without an opening tag leaves the answer', async ({ chat, upstream }) => {
  await upstream.script({
    when: { user_contains: 'greet' },
    steps: [{ text: 'They want a greeting.' }, { gate: 'end' }, { text: '\n</think>\n\nGood day.' }],
  });
  await chat.open();
  await chat.begin('greet me');
  await expect(chat.answers.locator('.prose')).toHaveText('They want a greeting.');
  await upstream.open('end');
  await chat.done();
  await expect(chat.answers.locator('.prose')).toHaveText('Good day.');
  await expect(chat.answers.locator('.trace')).toHaveCount(1);
  await chat.reload();
  await expect(chat.answers.locator('.prose')).toHaveText('Good day.');
});

test('citations become sources, a broken image is noted', async ({ chat, page, upstream }) => {
  const citations = ['https://a.example/1', 'https://b.example/2', 'https://c.example/3'];
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const raw = chunk({ content: 'Whales sing[3].' }, null, { citations }) + chunk({ content: '', images: [image] }) + chunk({}, 'stop', { citations });
  await upstream.script({ when: { user_contains: 'whales' }, steps: [{ raw }, 'end'] });
  await chat.open();
  await chat.begin('whales');
  await chat.done();
  await expect(chat.answers.locator('.prose a[href="https://c.example/3"]')).toHaveCount(1);
  await expect(chat.answers).toContainText('There is an image here, which can’t be shown.');
  // A link in a text is not told by its colour alone.
  await expectAccessibleInBothThemes(page);
});
