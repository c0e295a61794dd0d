// The time from pressing Stop, while an answer streams in two tabs, until each tab shows it as stopped.
import { open, percentile, quick, script, send } from './support.mjs';

const ROUNDS = quick ? 3 : 15;
const STREAM = { stream: { text: Array.from({ length: 20_000 }, (_, n) => `let a = ${n}; `).join(''), per_second: 200 } };
const KINDS = { prose: [STREAM], code: [{ text: '```rust\n' }, STREAM] };

export async function stopping(browser) {
  const figures = [];
  for (const [kind, steps] of Object.entries(KINDS)) {
    await script(`bench stop ${kind}`, steps);
    const [here, there] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      const tab = await open(browser);
      await send(tab, `bench stop ${kind}`);
      await tab.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
      const other = await open(browser, new URL(tab.url()).pathname);
      for (const page of [tab, other]) await page.locator('.answer', { hasText: 'let a' }).waitFor();
      const [pressed, seenHere, seenThere] = await Promise.all([press(tab), marked(tab), marked(other)]);
      here.push(seenHere - pressed);
      there.push(seenThere - pressed);
      await Promise.all([tab.close(), other.close()]);
    }
    figures.push(
      [`stopped in ${kind}, p50`, percentile(here, 0.5), 'ms'],
      [`stopped in ${kind}, slowest`, percentile(here, 1), 'ms'],
      [`stopped in ${kind}, in another tab, p50`, percentile(there, 0.5), 'ms'],
      [`stopped in ${kind}, in another tab, slowest`, percentile(there, 1), 'ms'],
    );
  }
  return figures;
}

// Both tabs have the same clock.
const press = (page) =>
  page.evaluate(() => {
    const pressed = Date.now();
    document.querySelector('button[aria-label=Stop]').click();
    return pressed;
  });

/** When the answer is marked, now or once it is. */
function marked(page) {
  return page.evaluate(async () => {
    const isMarked = () => document.querySelector('article .stopped') !== null;
    await new Promise((resolve) => {
      const observer = new MutationObserver(() => isMarked() && resolve());
      observer.observe(document.body, { subtree: true, childList: true });
      if (isMarked()) resolve();
    });
    return Date.now();
  });
}
