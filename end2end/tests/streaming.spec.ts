import { expect, test } from '../support/test.ts';

test('an answer streams: thinking first, then text', async ({ chat, page, upstream }) => {
  await upstream.script({
    steps: [
      { gate: 'start' },
      { think: 'First I look' },
      { gate: 'thinking' },
      { think: ' at the question.' },
      { gate: 'thought' },
      { text: 'One' },
      { gate: 'text' },
      { text: ' two' },
      { gate: 'end' },
      { text: ' three.' },
    ],
  });
  await chat.open();
  await chat.say('Count');
  const answer = chat.answers.first();

  await upstream.reached('start');
  await expect(answer).toContainText('Waiting for the model');
  await upstream.open('start');
  await expect(answer).toContainText('First I look');
  await upstream.open('thinking');
  await expect(answer).toContainText('First I look at the question.');
  await upstream.open('thought');
  await expect(answer.getByText('One', { exact: true })).toBeVisible();
  await upstream.open('text');
  await expect(answer.getByText('One two', { exact: true })).toBeVisible();
  await expect(chat.stop).toBeVisible();
  await upstream.open('end');
  await expect(answer.getByText('One two three.', { exact: true })).toBeVisible();
  await chat.done();

  await expect(answer.getByText('First I look at the question.')).toBeHidden();
  await answer.getByText(/^Thought/).click();
  await expect(answer.getByText('First I look at the question.')).toBeVisible();
  await answer.getByText(/^Thought/).click();
  await expect(answer.getByText('First I look at the question.')).toBeHidden();
  await expect(page).toHaveTitle('Count · Parlor');
});

test('a selection survives streaming', async ({ chat, page, upstream }) => {
  await upstream.script({
    steps: [{ text: 'A paragraph' }, { gate: 'more' }, { text: ' that grows.\n\n```\none line\n' }, { gate: 'code' }, { text: 'and another' }, { gate: 'rest' }],
  });
  const select = (text: string) => chat.answers.evaluate((answer, text) => {
    const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
      const at = node.nodeValue!.indexOf(text);
      if (at >= 0) getSelection()!.setBaseAndExtent(node, at, node, at + text.length);
    }
  }, text);
  const selected = () => page.evaluate(() => getSelection()!.toString());
  await chat.open();
  await chat.say('Write');
  await expect(chat.answers.getByText('A paragraph', { exact: true })).toBeVisible();
  await select('paragraph');
  await upstream.open('more');
  await expect(chat.answers).toContainText('one line');
  expect(await selected()).toBe('paragraph');
  await select('one line');
  await upstream.open('code');
  await expect(chat.answers).toContainText('and another');
  expect(await selected()).toBe('one line');
});

test('Send becomes Stop only in the running conversation', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'rest' }, { text: ', yes.' }] });
  await chat.open();
  const path = await chat.begin('Is it?');
  await expect(chat.stop).toBeVisible();
  await expect(chat.send).toBeHidden();
  await chat.newChat.click();
  await expect(chat.send).toBeVisible();
  await expect(chat.stop).toBeHidden();
  await chat.entry('Is it?').click();
  await expect(chat.stop).toBeVisible();
  await upstream.open('rest');
  await chat.done();
  expect(chat.path).toBe(path);
});

test('Stop takes effect at once and keeps the text', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ think: 'Hm.' }, { text: 'The beginning' }, { gate: 'never' }, { text: ' and the end.' }] });
  await chat.open();
  await chat.say('Tell me');
  const answer = chat.answers.first();
  await expect(answer.getByText('The beginning', { exact: true })).toBeVisible();
  await chat.stop.click();
  await expect(answer.getByText('Stopped', { exact: true })).toBeVisible();
  await expect(chat.send).toBeVisible();
  await expect(chat.page.locator('.toast'), 'the answer says it').toHaveCount(0);
  await upstream.open('never');
  await chat.reload();
  await expect(answer.getByText('The beginning', { exact: true })).toBeVisible();
  await expect(answer.getByText('Stopped', { exact: true })).toBeVisible();
  await expect(answer).not.toContainText('and the end');
});

test('two conversations stream at the same time', async ({ chat, upstream }) => {
  for (const name of ['red', 'blue']) {
    await upstream.script({
      when: { user_contains: name },
      steps: [{ text: `The ${name}` }, { gate: `${name}-1` }, { text: ' answer' }, { gate: `${name}-2` }, { text: ' is whole.' }],
    });
  }
  await chat.open();
  await chat.begin('red');
  await expect(chat.answers).toContainText('The red');
  await chat.begin('blue');
  await expect(chat.answers).toContainText('The blue');
  await expect(chat.list.getByRole('link', { name: 'is answering' })).toHaveCount(2);

  await upstream.open('red-1');
  await upstream.open('blue-1');
  await expect(chat.answers.getByText('The blue answer', { exact: true })).toBeVisible();
  await chat.entry('red').click();
  await expect(chat.answers.getByText('The red answer', { exact: true })).toBeVisible();
  await expect(chat.stop).toBeVisible();
  await upstream.open('blue-2');
  await upstream.open('red-2');
  await expect(chat.answers.getByText('The red answer is whole.', { exact: true })).toBeVisible();
  await chat.done();
  await chat.entry('blue').click();
  await expect(chat.answers.getByText('The blue answer is whole.', { exact: true })).toBeVisible();
  await chat.done();
  await expect(chat.list.getByRole('link', { name: 'is answering' })).toHaveCount(0);
});

test('a tab reopened during an answer shows all of it', async ({ chat, newTab, upstream }) => {
  await upstream.script({ steps: [{ text: 'Before' }, { gate: 'while' }, { text: ', while' }, { gate: 'after' }, { text: ', after.' }] });
  await chat.open();
  const path = await chat.begin('When?');
  await expect(chat.answers.getByText('Before', { exact: true })).toBeVisible();
  const again = await newTab();
  await chat.page.close();
  await upstream.open('while');
  await upstream.reached('after');
  await again.open(path);
  await expect(again.answers.getByText('Before, while', { exact: true })).toBeVisible();
  await expect(again.stop).toBeVisible();
  await upstream.open('after');
  await expect(again.answers.getByText('Before, while, after.', { exact: true })).toBeVisible();
  await again.done();
});

test('a reload during an answer loses and duplicates nothing', async ({ chat, upstream }) => {
  await upstream.script({
    steps: [{ think: 'Let me see.' }, { gate: 'a' }, { text: 'One' }, { gate: 'b' }, { text: ' two' }, { gate: 'c' }, { text: ' three.' }],
  });
  await chat.open();
  await chat.begin('Count');
  await expect(chat.answers).toContainText('Let me see.');
  await chat.reload();
  await expect(chat.answers).toContainText('Let me see.');
  await upstream.open('a');
  await expect(chat.answers.getByText('One', { exact: true })).toBeVisible();
  await chat.reload();
  await upstream.open('b');
  await expect(chat.answers.getByText('One two', { exact: true })).toBeVisible();
  await upstream.open('c');
  await expect(chat.answers.getByText('One two three.', { exact: true })).toBeVisible();
  await expect(chat.questions).toHaveCount(1);
  await expect(chat.answers).toHaveCount(1);
});

test('regenerating keeps the earlier answer', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Second try' }] });
  await upstream.script({ steps: [{ text: 'First try' }], times: 1 });
  await chat.open();
  await chat.say('Try');
  await expect(chat.answers).toContainText('First try');
  await chat.answers.getByRole('button', { name: 'Regenerate' }).click();
  await expect(chat.answers).toContainText('Second try');
  await expect(chat.answers).toContainText('2/2');
  await chat.answers.getByRole('button', { name: 'Previous answer' }).click();
  await expect(chat.answers).toContainText('First try');
  await chat.reload();
  await expect(chat.answers).toContainText('First try');
  await expect(chat.answers).toContainText('1/2');
});

test('the duration of thinking is the same after a reload', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ stream_thinking: { text: 'One two three four five six seven eight.', per_second: 20 } }, { text: 'Yes.' }] });
  await chat.open();
  await chat.begin('Well?');
  await chat.done();
  const summary = chat.answers.locator('.trace-now');
  await expect(summary).toHaveText(/^Thought for \d+(\.\d)? s$/);
  const words = (await summary.textContent())!;
  expect(words).not.toContain('0.0 s');
  await chat.reload();
  await expect(summary).toHaveText(words);
});
