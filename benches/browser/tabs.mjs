// Ten tabs of one browser, of which eight stream an answer and one is visible: the latency of a request, in the browser's queue
// (all tabs share six connections) and at the server.
import { open, percentile, script, send } from './support.mjs';

const RUNNING = 8;

export async function tabs(browser) {
  await script('bench tab', [{ stream: { text: Array.from({ length: 20_000 }, (_, n) => `On and on, ${n}. `).join(''), per_second: 50 } }]);
  const context = await browser.newContext();
  const pages = [];
  for (let tab = 0; tab < RUNNING; tab++) {
    const page = await open(context);
    await send(page, `bench tab ${tab}`);
    await page.locator('.answer', { hasText: 'On and on' }).waitFor();
    await page.evaluate(hide);
    pages.push(page);
  }
  const idle = await open(context);
  await idle.evaluate(hide);
  const seen = await open(context);
  await send(seen, 'bench tab that is seen');
  await seen.getByRole('button', { name: 'Stop', exact: true }).click();
  await seen.locator('article .stopped').waitFor();
  pages.push(idle, seen);
  const waits = (await Promise.all(pages.map((page) => page.evaluate(waited)))).flat();
  for (const page of pages.slice(0, RUNNING)) await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await context.close();
  return [
    ['ten tabs, eight answers: a request waits, p50', percentile(waits, 0.5), 'ms'],
    ['ten tabs, eight answers: a request waits, longest', percentile(waits, 1), 'ms'],
  ];
}

/** The page believes that nobody sees it. */
function hide() {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
  document.dispatchEvent(new Event('visibilitychange'));
}

/** The waits for what the server makes; the page's files come from the cache. */
function waited() {
  const requests = performance.getEntriesByType('resource').filter((entry) => new URL(entry.name).pathname.startsWith('/rpc/'));
  const entries = [...performance.getEntriesByType('navigation'), ...requests];
  return entries.map((entry) => entry.responseStart - entry.fetchStart);
}
