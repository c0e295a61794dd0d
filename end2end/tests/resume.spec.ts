import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

/** The pieces of an answer of each kind of content. Each disturbance happens twice in each kind. */
const PIECES_OF_A_KIND = 6;

/** An answer with every kind of content, in chunks with a unique word each. */
function pieces(): { think?: string; text?: string }[] {
  const all: { think?: string; text?: string }[] = [];
  const word = () => `w${all.length}.`;
  const last = PIECES_OF_A_KIND - 1;
  for (let n = 0; n <= last; n++) all.push({ think: `Thought ${word()}\n\n` });
  for (let n = 0; n <= last; n++) all.push({ text: `${n % 3 === 0 ? '\n\n## Part\n\n' : ''}Some **words**, *more* of them: ${word()} ` });
  for (let n = 0; n <= last; n++) all.push({ text: `${n === 0 ? '\n\n```rust\n' : ''}let a = "${word()}";\n` });
  // A row is shown when the next one, or another block, begins.
  for (let n = 0; n <= last; n++) all.push({ text: `${n === 0 ? '```\n\n| a | b |\n|---|---|\n|' : ''} ${word()} | \`x\` |\n${n < last ? '|' : '\nA list:'}` });
  for (let n = 0; n <= last; n++) all.push({ text: `${n === 0 ? '\n' : ''}- [ ] an item: ${word()}\n` });
  return all;
}

/** Disturbances at any position are in tests/server/resume.rs, without a page. */
test('interruptions in every kind of content leave the answer unchanged', async ({ chat, page, context, upstream }) => {
  test.slow();
  const answer = pieces();
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
    await expect(chat.answers.locator('.thinking-text')).toContainText(`w${PIECES_OF_A_KIND - 1}.`);
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
