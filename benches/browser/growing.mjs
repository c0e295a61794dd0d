// The cost of a token in a short answer and in a long one: the same 250 tokens after 1 KB and after 200 KB of it.
import { PER_SECOND, counters, open, pass, quick, reached, script, send } from './support.mjs';

const TOKENS = quick ? 50 : 250;
const LONG = quick ? 20_000 : 200_000;

/** How an answer of each kind begins, and a line of it. */
const KINDS = {
  paragraphs: ['', 'Some **bold words** and `code` in a sentence that goes on for a while, as they do.\n\n'],
  list: ['- First\n', '- **Item:** some words about it, and a few more\n'],
  table: ['| a | b | c |\n|---|---|---|\n', '| some words | 123 | more words of it |\n'],
  formulas: ['', 'Let $x_1 = a$ and \\(y^2\\) be the words of a sentence that goes on for a while.\n\n'],
  code: ['```rust\n', '    let words = "some of them".to_owned(); // and why\n'],
};

/** Lines of a kind, in chunks as large as a network's. */
function lines(line, bytes) {
  const chunk = line.repeat(Math.ceil(1000 / line.length));
  return Array.from({ length: Math.max(1, Math.round(bytes / chunk.length)) }, () => ({ text: chunk }));
}

/** Words of a line, one a token, at the usual pace. */
function tokens(line) {
  const words = line.match(/\S+\s*/g);
  return Array.from({ length: TOKENS }, (_, index) => [{ pause: 1000 / PER_SECOND }, { text: words[index % words.length] }]).flat();
}

export async function growing(browser) {
  const figures = [];
  for (const [kind, [beginning, line]] of Object.entries(KINDS)) {
    const gate = (name) => `${kind}-${name}`;
    const part = (name, bytes) => [...lines(line, bytes), { gate: gate(`before-${name}`) }, ...tokens(line), { gate: gate(`after-${name}`) }];
    await script(`bench ${kind}`, [{ text: beginning }, ...part('short', 1000), ...part('long', LONG), { finish: 'stop' }]);
    const page = await open(browser);
    const { read } = await counters(page);
    await send(page, `bench ${kind}`);
    const costs = {};
    for (const name of ['short', 'long']) {
      await reached(gate(`before-${name}`));
      await settled(page);
      await showAll(page);
      const before = await read();
      await pass(gate(`before-${name}`));
      await reached(gate(`after-${name}`));
      await settled(page);
      const after = await read();
      await pass(gate(`after-${name}`));
      const each = (counter) => ((after[counter] - before[counter]) * 1000) / TOKENS;
      costs[name] = { scripts: each('ScriptDuration'), all: each('TaskDuration') };
    }
    await page.close();
    const size = `${LONG / 1000} KB`;
    figures.push(
      [`script a token, ${kind}, at 1 KB`, costs.short.scripts, 'ms'],
      [`script a token, ${kind}, at ${size}`, costs.long.scripts, 'ms'],
      [`all work a token, ${kind}, at 1 KB`, costs.short.all, 'ms'],
      [`all work a token, ${kind}, at ${size}`, costs.long.all, 'ms'],
    );
  }
  return figures;
}

/** A long answer is shown in pieces: asks for all of them. */
async function showAll(page) {
  const more = page.getByRole('button', { name: 'Show more' });
  while ((await more.count()) > 0) {
    await more.first().click();
    await settled(page);
  }
}

/** All that has been sent is drawn: the page has had time to spare. */
async function settled(page) {
  for (let length = -1; ; ) {
    const now = await page.evaluate(
      () => new Promise((resolve) => requestIdleCallback(() => resolve(document.querySelector('.messages').scrollHeight))),
    );
    if (now === length) return;
    length = now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
