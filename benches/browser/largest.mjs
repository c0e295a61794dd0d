// The load time of a conversation whose answer has the maximum length: from the navigation until the page is hydrated. As plain text,
// and as formats that are expensive to render.
import { open, parlor, quick, script } from './support.mjs';

const LENGTH = 8 * 1024 * 1024 - 1024;
const CHUNK = 500_000;
const SHAPES = { 'one paragraph': 'word ', 'one code block': 'let a = 1;\n', 'one list': '- item\n', 'one line': 'x', '*': '*', '[': '[', '`': '`', '<': '<' };

export async function largest(browser) {
  const shapes = Object.entries(SHAPES).slice(0, quick ? 1 : undefined);
  const figures = [];
  for (const [name, piece] of shapes) {
    const begins = name.endsWith('code block') ? '```\n' : '';
    const text = (begins + piece.repeat(Math.ceil(LENGTH / piece.length))).slice(0, LENGTH);
    const chunks = Array.from({ length: Math.ceil(LENGTH / CHUNK) }, (_, at) => ({ text: text.slice(at * CHUNK, (at + 1) * CHUNK) }));
    const message = `largest bench ${figures.length}:`;
    await script(message, [...chunks, { finish: 'stop' }]);
    const response = await fetch(`${parlor}/api/chat/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message }),
    });
    const events = await response.text();
    const started = performance.now();
    const page = await open(browser, `/c/${/"conversation_id":"([^"]+)"/.exec(events)[1]}`);
    figures.push([`page of an answer of 8 MiB, ${name}: ready`, performance.now() - started, 'ms']);
    await page.close();
  }
  return figures;
}
