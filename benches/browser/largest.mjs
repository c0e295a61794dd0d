// The load time of a conversation whose answer has the maximum length: from the navigation until the page is hydrated. As plain text,
// and as formats that are expensive to render. Each has the same limit.
import { flag, open, parlor, quick, script } from './support.mjs';

const LENGTH = 8 * 1024 * 1024 - 1024;
const CHUNK = 500_000;
const SHAPES = {
  'one paragraph': 'word ',
  'one code block': 'let a = 1;\n',
  'one list': '- item\n',
  'one line': 'x',
  '*': '*',
  '[': '[',
  '`': '`',
  '<': '<',
  'formulas of 8,000 letters': `\\(${'x'.repeat(8000)}\\)\n`,
  'formulas of 1,000 letters': `\\(${'x'.repeat(1000)}\\)\n`,
  'short formulas': '$x_1$ and \\(\\frac{a}{b}\\)\n',
  '$$a': '$$a',
  'tags': 'H<sub>2</sub>O and <kbd>C</kbd>\n',
  'cells with line breaks': '| a<br>b | c |\n',
  'alerts': '> [!NOTE]\n> a\n\n',
  'details': '<details>\n<summary>a</summary>\n\nb\n\n</details>\n\n',
};
const BEGINNINGS = { 'one code block': '```\n', 'cells with line breaks': '| a | b |\n|---|---|\n' };
const SHORT_SHAPES = ['one paragraph', 'formulas of 1,000 letters'];
/** The limit for each page, in milliseconds. */
const MAX_MS = Number(flag('largest-ms') ?? 3000);

export async function largest(browser, faults) {
  const shapes = Object.entries(SHAPES).filter(([name]) => !quick || SHORT_SHAPES.includes(name));
  const figures = [];
  for (const [index, [name, piece]] of shapes.entries()) {
    const begins = BEGINNINGS[name] ?? '';
    const text = (begins + piece.repeat(Math.ceil(LENGTH / piece.length))).slice(0, LENGTH);
    const chunks = Array.from({ length: Math.ceil(LENGTH / CHUNK) }, (_, at) => ({ text: text.slice(at * CHUNK, (at + 1) * CHUNK) }));
    const message = `largest bench ${index}:`;
    await script(message, [...chunks, { finish: 'stop' }]);
    const response = await fetch(`${parlor}/api/chat/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message }),
    });
    const events = await response.text();
    const started = performance.now();
    let page;
    try {
      page = await open(browser, `/c/${/"conversation_id":"([^"]+)"/.exec(events)[1]}`);
    } catch (error) {
      faults.push(`the page of an answer of 8 MiB, ${name}, does not get ready: ${error.message}`);
      continue;
    }
    const time = performance.now() - started;
    figures.push([`page of an answer of 8 MiB, ${name}: ready`, time, 'ms']);
    await page.close();
    if (time > MAX_MS) faults.push(`the page of an answer of 8 MiB, ${name}, is ready after ${Math.round(time)} ms; the limit is ${MAX_MS} ms`);
  }
  return figures;
}
