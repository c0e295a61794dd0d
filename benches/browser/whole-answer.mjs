// An answer with everything: what is moved while it comes, and the bytes of all that it needs.
import { open, pass, reached, script, send } from './support.mjs';

const CHART = `CHART: ${JSON.stringify({ title: 'Weather', kind: 'line', x: ['May', 'June', 'July'], series: [{ name: 'Rain', values: [12, 30, 7] }] })}`;
const PARTS = [
  'Some words, and a formula $E = m c^2$:\n\n$$\n\\int_0^1 x^2 \\, dx = \\frac{1}{3}\n$$\n\n',
  '| a | b |\n|---|---:|\n| one | 1 |\n| two | 2 |\n\n',
  '```python\ndef double(x):\n    return 2 * x  # twice\n```\n\n',
];

export async function wholeAnswer(browser) {
  const steps = (parts) => parts.map((text) => ({ stream: { text, per_second: 50 } }));
  await script('bench warm up', [{ text: 'Yes.' }]);
  await script('bench moves', [...steps([PARTS[0], PARTS[1], `${CHART}\n\n`, PARTS[2]]), { gate: 'whole answer' }, { text: 'The end.' }]);
  await script('bench bytes', [...steps(PARTS), { text: 'The end.' }]);
  const moved = await layoutShift(browser);
  const bytes = await sentBytes(browser);
  return [
    ['an answer with mathematics, a table and a chart: layout shift', moved, ''],
    ['bytes of the first page with what it loads by itself', bytes.page, ''],
    ['bytes of all for an answer with code, a table and a formula', bytes.all, ''],
  ];
}

/** The layout shift while an answer comes, without the caret, and without the line below it, which moves down as it grows. */
async function layoutShift(browser) {
  const page = await open(browser, '/');
  await send(page, 'bench warm up');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.evaluate(() => {
    window.moved = 0;
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        const isMeantToMove = ({ node }) => node?.nodeName === '::after' || node?.closest?.('.message-foot');
        if (!sources.every(isMeantToMove)) window.moved += value;
      }
    }).observe({ type: 'layout-shift', buffered: false });
  });
  await send(page, 'bench moves');
  await reached('whole answer');
  const answer = page.locator('.answer').last();
  await answer.locator('math').nth(1).waitFor();
  await answer.getByRole('img', { name: /^Chart/ }).waitFor();
  await pass('whole answer');
  await page.getByRole('button', { name: 'Send' }).waitFor();
  const moved = await page.evaluate(() => window.moved);
  await page.close();
  return moved;
}

/** The bytes as sent, with headers and without fonts, of the document and the files: the first page, and with what the answer loads. */
async function sentBytes(browser) {
  const page = await open(browser, '/');
  const first = await page.evaluate(sent);
  await send(page, 'bench bytes');
  await page.locator('.answer math').nth(1).waitFor();
  await page.locator('.answer pre').waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  const all = await page.evaluate(sent);
  await page.close();
  return { page: first, all };
}

function sent() {
  const isCounted = ({ pathname }) => pathname.startsWith('/pkg/') && !pathname.endsWith('.woff2');
  const files = performance.getEntriesByType('resource').filter(({ name }) => isCounted(new URL(name)));
  return [...performance.getEntriesByType('navigation'), ...files].reduce((all, { transferSize }) => all + transferSize, 0);
}
