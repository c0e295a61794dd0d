import { readFile } from 'node:fs/promises';
import { layoutShifts, recordLayoutShifts } from '../support/layout-shift.ts';
import type { Locator } from '@playwright/test';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

/** The header of a block stands above its code, with the language at the left and the buttons at the right. */
async function expectUncovered(block: Locator) {
  const head = (await block.locator('.md-code-head').boundingBox())!;
  const code = (await block.locator('code').boundingBox())!;
  expect(head.y + head.height).toBeLessThanOrEqual(code.y);
  const language = (await block.locator('.md-code-language').boundingBox())!;
  const copy = (await block.getByRole('button', { name: 'Copy code' }).boundingBox())!;
  expect(language.x + language.width).toBeLessThanOrEqual(copy.x);
}

const LONG = Array.from({ length: 120 }, (_, line) => `line ${line + 1}`).join('\n');
const WIDE = `let sum = ${Array.from({ length: 60 }, (_, n) => `a${n}`).join(' + ')};`;
const CODE = `One line:\n\n\`\`\`sh\nnpm install\n\`\`\`\n\nWide:\n\n\`\`\`rust\n${WIDE}\nlet b = 2;\n\`\`\`\n\nLong:\n\n\`\`\`\n${LONG}\n\`\`\`\n\nThe end.`;

test('code blocks can be wrapped, saved and opened', async ({ chat, page, upstream }) => {
  const half = CODE.indexOf('line 60');
  await upstream.script({ steps: [{ text: CODE.slice(0, half) }, { gate: 'rest' }, { text: CODE.slice(half) }] });
  await chat.open();
  await chat.say('Show');
  await expect(chat.answers).toContainText('line 59');
  await expectUncovered(chat.answers.locator('.md-code').last());
  await upstream.open('rest');
  await chat.done();
  const blocks = chat.answers.locator('.md-code');
  const [one, wide, long] = [blocks.nth(0), blocks.nth(1), blocks.nth(2)];

  for (const block of [one, wide, long]) await expectUncovered(block);

  const pre = wide.locator('pre');
  const isScrolled = () => pre.evaluate((pre) => pre.scrollWidth > pre.clientWidth);
  expect(await isScrolled()).toBe(true);
  const wrap = wide.getByRole('button', { name: 'Wrap lines' });
  await expect(wrap).toHaveAttribute('aria-pressed', 'false');
  await wide.hover();
  await wrap.click();
  await expect(wrap).toHaveAttribute('aria-pressed', 'true');
  expect(await isScrolled()).toBe(false);
  await screenshots(page, 'code-wrapped');

  await wide.hover();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    wide.getByRole('button', { name: 'Download code' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('code.rs');
  expect(await readFile(await download.path(), 'utf8')).toBe(`${WIDE}\nlet b = 2;\n`);

  // What streamed in stays open; a stored one is cut.
  await expect(long.getByRole('button', { name: 'Show all' })).toHaveCount(0);
  await chat.open(chat.path);
  const cut = (await long.boundingBox())!.height;
  await screenshots(page, 'code-cut');
  await long.getByRole('button', { name: 'Show all 120 lines' }).click();
  expect((await long.boundingBox())!.height).toBeGreaterThan(cut * 2);
  await long.getByRole('button', { name: 'Show less' }).click();
  expect((await long.boundingBox())!.height).toBe(cut);
  await expect(one.getByRole('button', { name: 'Show all' })).toHaveCount(0);
});

test('nothing moves while code streams in', async ({ chat, page, upstream }) => {
  await upstream.script({
    steps: [
      { text: 'So:\n\n```js\nlet a = 1;' },
      { gate: 'line' },
      { text: '\nlet b = 2;\n' },
      { gate: 'end' },
      { text: '```\n\n```svg\n<svg viewBox="0 0 2 1">' },
      { gate: 'image' },
      { text: '<rect width="1" height="1"/></svg>\n```\n\nDone.' },
    ],
  });
  await chat.open();
  await chat.say('Show');
  const answer = chat.answers.last();
  await expect(answer).toContainText('let a');
  await recordLayoutShifts(page);
  for (const [gate, text] of [['line', 'let b'], ['end', '<svg'], ['image', 'Done.']] as const) {
    await upstream.open(gate);
    await expect(answer).toContainText(text);
  }
  await chat.done();
  await expect(answer.locator('img')).toBeVisible();
  await waitForPaint(page);
  expect(await layoutShifts(page)).toEqual([]);
});

test('code in a message of the user is shown as code', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'I see.' }] });
  await chat.open();
  await chat.message.fill('What is **this**?\n```js\nlet a = "b";\n```\nThanks\n\n# really');
  await chat.message.press('Enter');
  await chat.done();
  const question = chat.questions.last();
  await expect(question.locator('pre code')).toHaveText('let a = "b";\n', { useInnerText: true });
  await expect(question.locator('.hl-keyword')).toHaveText('let');
  await expect(question).toContainText('What is **this**?');
  await expect(question).toContainText('# really');
  await expect(question.getByRole('button', { name: 'Copy code' })).toBeVisible();
  await screenshots(page, 'code-question');
  await chat.open(chat.path);
  await expect(question.locator('pre code')).toHaveText('let a = "b";\n', { useInnerText: true });
  await expect(question).not.toContainText('```');
});

for (const [name, viewport, text] of [
  ['on a phone', { width: 390, height: 844 }, 'Code:'],
  ['in right-to-left text', { width: 1280, height: 720 }, '\u05e7\u05d5\u05d3:'],
] as const) {
  test.describe(name, () => {
    test.use({ viewport });

    test('the tools cover no code', async ({ chat, page, upstream }) => {
      await upstream.script({
        steps: [{ text: `${text}\n\n\`\`\`rust\nlet line = "${'wide '.repeat(40)}";\nlet next = 1;\n\`\`\`` }],
      });
      await chat.open();
      await chat.say('Show');
      await chat.done();
      const block = chat.answers.locator('.md-code');
      await expectUncovered(block);
      await block.hover();
      await block.getByRole('button', { name: 'Wrap lines' }).click();
      await expectUncovered(block);
      await screenshots(page, `code-${viewport.width === 390 ? 'phone' : 'right-to-left'}`);
    });
  });
}
