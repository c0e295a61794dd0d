import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

/** A long answer with every kind of content, in chunks with a unique word each. */
function pieces(): { think?: string; text?: string }[] {
  const all: { think?: string; text?: string }[] = [];
  const word = () => `w${all.length}.`;
  for (let n = 0; n < 12; n++) all.push({ think: `Thought ${word()}\n\n` });
  for (let n = 0; n < 30; n++) all.push({ text: `${n % 6 === 0 ? '\n\n## Part\n\n' : ''}Some **words**, *more* of them: ${word()} ` });
  all.push({ text: `\n\n\`\`\`rust\nlet a = "${word()}";\n` });
  for (let n = 0; n < 24; n++) all.push({ text: `let b = "${word()}";\n` });
  // A row is shown when the next one, or another block, begins.
  all.push({ text: `\`\`\`\n\n| a | b |\n|---|---|\n| ${word()} | 1 |\n|` });
  for (let n = 0; n < 20; n++) all.push({ text: ` ${word()} | \`x\` |\n${n < 19 ? '|' : '\nA list:'}` });
  for (let n = 0; n < 12; n++) all.push({ text: `${n === 0 ? '\n' : ''}- [ ] an item: ${word()}\n` });
  return all;
}

test('interruptions at any position leave the answer unchanged', async ({ chat, page, context, upstream }) => {
  test.setTimeout(400_000);
  const answer = pieces();
  expect(answer.length).toBeGreaterThanOrEqual(100);
  await upstream.script({ when: { user_contains: 'long' }, steps: answer.flatMap((piece, n) => [piece, { gate: `g${n}` }]) });
  await upstream.script({ when: { user_contains: 'other' }, steps: [{ text: 'Another conversation.' }] });
  await chat.open();
  await chat.begin('other');
  await chat.done();
  await chat.newChat.click();
  const disturbed = await chat.begin('a long answer');
  const disturbances = [
    async () => chat.reload(),
    async (n: number) => {
      await context.setOffline(true);
      // Events from here on are not delivered.
      await upstream.open(`g${n}`);
      await context.setOffline(false);
    },
    async (n: number) => {
      await chat.entry('other').click();
      await expect(chat.answers).toContainText('Another conversation.');
      await upstream.open(`g${n}`);
      await chat.entry('a long answer').click();
    },
  ];
  for (const n of answer.keys()) {
    await expect(chat.answers, `at ${n}`).toContainText(`w${n}.`);
    await disturbances[n % disturbances.length](n);
    await upstream.open(`g${n}`);
  }
  await chat.done();
  const text = async () => {
    await chat.answers.locator('.trace-now').click();
    // The thinking is rendered after the browser's `toggle` event, which is a separate task.
    await expect(chat.answers.locator('.thinking-text')).toContainText('w11.');
    return (await chat.answers.locator('.thinking-text').innerText()) + (await chat.answers.locator('.prose').innerText());
  };
  const after = await text();
  for (const n of answer.keys()) expect(after.split(`w${n}.`).length, `w${n} is there once`).toBe(2);

  // The same answer without interruptions: every gate is open by now.
  await chat.newChat.click();
  await chat.begin('a long answer again');
  await chat.done();
  expect(chat.path).not.toBe(disturbed);
  expect(await text()).toBe(after);
  await chat.reload();
  expect(await text()).toBe(after);
});
