// What a person at the page gets, in a real Chromium: how soon the first text stands in the DOM after Enter, how late
// each token is there, and how busy the main thread is with it.
//
//   node measure.mjs <Parlor's address> <the scripted model server's address> [--quick]
//
// Prints one JSON object. Playwright comes from end2end/, as for the end-to-end tests.
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';

const [parlor, upstream, ...flags] = process.argv.slice(2);
const quick = flags.includes('--quick');
const PER_SECOND = 50;
const WINDOW_SECONDS = quick ? 3 : 10;
const FIRST_TEXTS = quick ? 2 : 7;

let playwright;
try {
  playwright = createRequire(new URL('../../end2end/package.json', import.meta.url))('@playwright/test');
} catch {
  console.error('Playwright is not installed: make test-e2e does that');
  process.exit(1);
}

/** The system's Chromium, if it has one; otherwise Playwright uses its own. */
function packagedChromium() {
  const folders = (process.env.PATH ?? '').split(':');
  const places = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs in the page, before anything else: notes when each stamped token (`number@microseconds`) is first in the DOM. */
function record() {
  const bench = { entered: 0, firstText: null, late: [], longTasks: [] };
  const seen = new Set();
  window.bench = bench;
  const read = (text) => {
    for (const [token, stamp] of text?.matchAll(/\d+@(\d{16})(?!\d)/g) ?? []) {
      if (seen.has(token)) continue;
      seen.add(token);
      bench.firstText ??= performance.now() - bench.entered;
      bench.late.push(Date.now() - Number(stamp) / 1000);
    }
  };
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'characterData') read(change.target.data);
      for (const node of change.addedNodes) read(node.textContent);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Enter') return;
      bench.entered = performance.now();
      bench.firstText = null;
    },
    { capture: true },
  );
  new PerformanceObserver((list) => bench.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' });
}

/** An answer with every kind of block, its words being stamped tokens. Marks between them come without a pause. */
function markdown(seconds) {
  const steps = [];
  const tokens = (count) => {
    // The first of a group comes at once, so the pause before it keeps the pace.
    steps.push({ pause: 1000 / PER_SECOND }, { tokens: { count, per_second: PER_SECOND } });
    return count;
  };
  const text = (text) => steps.push({ text });
  for (let sent = 0, section = 1; sent < seconds * PER_SECOND; section++) {
    text(`## Section ${section}\n\nSome **bold words**, some *others* and \`code\`: `);
    sent += tokens(25);
    for (let item = 0; item < 3; item++) {
      text(`\n${item === 0 ? '\n' : ''}- **Item:** `);
      sent += tokens(6);
    }
    text('\n\n| a | b |\n|---|---|\n');
    for (let row = 0; row < 3; row++) {
      text('| ');
      sent += tokens(2);
      text('| ');
      sent += tokens(2);
      text('|\n');
    }
    text('\n```rust\n');
    for (let line = 0; line < 4; line++) {
      text('let x = "');
      sent += tokens(4);
      text('";\n');
    }
    text('```\n\n> ');
    sent += tokens(10);
    text('\n\n');
  }
  return steps;
}

async function script(user_contains, steps) {
  const response = await fetch(`${upstream}/control/scripts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ when: { user_contains }, steps }),
  });
  if (!response.ok) throw new Error(`the scripted model server: ${response.status} ${await response.text()}`);
}

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

const round = (value) => (value === null ? null : Math.round(value * 10) / 10);

async function open(browser) {
  const page = await browser.newPage();
  await page.addInitScript(record);
  // Only the page's own code, once it has taken over, opens the stream of events.
  const taken = page.waitForResponse((response) => response.headers()['content-type']?.startsWith('text/event-stream'), { timeout: 20_000 });
  await page.goto(parlor);
  await taken;
  return page;
}

async function send(page, text) {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

/** From Enter to the first text: once as a new conversation, then as the next message in it, and so on. */
async function firstTexts(browser) {
  const [first, next] = [[], []];
  for (let attempt = 0; attempt < FIRST_TEXTS; attempt++) {
    const page = await open(browser);
    for (const times of [first, next]) {
      await send(page, 'bench first text');
      await page.waitForFunction(() => window.bench.firstText !== null, undefined, { polling: 20, timeout: 20_000 });
      times.push(await page.evaluate(() => window.bench.firstText));
      await page.getByRole('button', { name: 'Send' }).waitFor();
    }
    await page.close();
  }
  return { first, next };
}

/** A long answer: what the window in its middle was like. */
async function longAnswer(browser) {
  const page = await open(browser);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const metrics = async () => Object.fromEntries((await devtools.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  await send(page, 'bench long answer');
  await page.waitForFunction((count) => window.bench.late.length >= count, PER_SECOND, { polling: 100, timeout: 20_000 });
  const before = await metrics();
  const from = await page.evaluate(() => ({ tokens: window.bench.late.length, longTasks: window.bench.longTasks.length }));
  await new Promise((resolve) => setTimeout(resolve, WINDOW_SECONDS * 1000));
  const after = await metrics();
  const seen = await page.evaluate((from) => ({ late: window.bench.late.slice(from.tokens), longTasks: window.bench.longTasks.slice(from.longTasks) }), from);
  await page.getByRole('button', { name: 'Send' }).waitFor({ timeout: 20_000 });
  await devtools.send('HeapProfiler.collectGarbage');
  const heap = (await metrics()).JSHeapUsedSize;
  const busy = (name) => ((after[name] - before[name]) * 10) / (after.Timestamp - before.Timestamp);
  await page.close();
  return { ...seen, heap, busy: busy('TaskDuration'), scripting: busy('ScriptDuration'), layout: busy('LayoutDuration') + busy('RecalcStyleDuration') };
}

const browser = await playwright.chromium.launch({
  executablePath: packagedChromium(),
  chromiumSandbox: process.getuid?.() !== 0,
  args: ['--disable-background-networking', '--disable-component-update', '--no-first-run'],
});
try {
  await script('bench first text', [{ tokens: { count: 10, per_second: PER_SECOND } }]);
  await script('bench long answer', markdown(WINDOW_SECONDS + 4));
  const { first, next } = await firstTexts(browser);
  const answer = await longAnswer(browser);
  const figures = [
    ['Enter to first text, new conversation, p50', percentile(first, 0.5), 'ms'],
    ['Enter to first text, new conversation, slowest', percentile(first, 1), 'ms'],
    ['Enter to first text, next message, p50', percentile(next, 0.5), 'ms'],
    ['token late in the DOM, p50', percentile(answer.late, 0.5), 'ms'],
    ['token late in the DOM, p95', percentile(answer.late, 0.95), 'ms'],
    ['token late in the DOM, max', percentile(answer.late, 1), 'ms'],
    ['tokens seen in the window', answer.late.length, ''],
    ['main thread busy', answer.busy, 's of 10'],
    ['… with scripts', answer.scripting, 's of 10'],
    ['… with layout and style', answer.layout, 's of 10'],
    ['tasks over 50 ms', answer.longTasks.length, ''],
    ['JS heap afterwards', answer.heap / 1e6, 'MB'],
  ];
  const chromium = browser.version();
  console.log(JSON.stringify({ chromium, per_second: PER_SECOND, figures: figures.map(([name, value, unit]) => ({ name, value: round(value), unit })) }));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser.close();
}
