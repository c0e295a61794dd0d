// Streaming an answer: the time from Enter until the first text is in the DOM, the delay of each token, and the load of
// the main thread.
import { PER_SECOND, counters, open, percentile, quick, script, send } from './support.mjs';

const WINDOW_SECONDS = quick ? 3 : 10;
const FIRST_TEXTS = quick ? 2 : 7;

export async function streaming(browser) {
  await script('bench first text', [{ tokens: { count: 10, per_second: PER_SECOND } }]);
  await script('bench long answer', markdown(WINDOW_SECONDS + 4));
  const { first, next } = await firstTexts(browser);
  const answer = await longAnswer(browser);
  return [
    ...firstTextFigures('new conversation', first),
    ...firstTextFigures('next message', next),
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
}

/** Runs in the page, before anything else: notes when each stamped token (`number@microseconds`) is first in the DOM. */
function record() {
  const bench = { entered: 0, requested: 0, stamped: null, received: null, firstText: null, late: [], longTasks: [] };
  const seen = new Set();
  window.bench = bench;
  const read = (text) => {
    for (const [token, stamp] of text?.matchAll(/\d+@(\d{16})(?!\d)/g) ?? []) {
      if (seen.has(token)) continue;
      seen.add(token);
      bench.firstText ??= performance.now();
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
      Object.assign(bench, { entered: performance.now(), stamped: null, received: null, firstText: null });
    },
    { capture: true },
  );
  const { fetch } = window;
  window.fetch = (resource, ...rest) => {
    if (/send_message/.test(resource.url ?? resource)) bench.requested = performance.now();
    return fetch(resource, ...rest);
  };
  const { read: readChunk } = ReadableStreamDefaultReader.prototype;
  ReadableStreamDefaultReader.prototype.read = async function () {
    const chunk = await readChunk.call(this);
    if (bench.received === null && chunk.value) {
      const [, stamp] = /\d+@(\d{16})(?!\d)/.exec(new TextDecoder().decode(chunk.value)) ?? [];
      if (Number(stamp) / 1000 > performance.timeOrigin + bench.entered) {
        Object.assign(bench, { stamped: Number(stamp) / 1000 - performance.timeOrigin, received: performance.now() });
      }
    }
    return chunk;
  };
  new PerformanceObserver((list) => bench.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' });
}

/** An answer with every kind of block, its words being stamped tokens. Marks between them come without a pause. */
function markdown(seconds) {
  const steps = [];
  const tokens = (count) => {
    // The first token of a group arrives at once, so the pause before it keeps the pace.
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

/** From Enter to the first text: once as a new conversation, then as the next message in it, and so on. */
async function firstTexts(browser) {
  const [first, next] = [[], []];
  for (let attempt = 0; attempt < FIRST_TEXTS; attempt++) {
    const page = await open(browser, '/', record);
    for (const times of [first, next]) {
      await send(page, 'bench first text');
      await page.waitForFunction(() => window.bench.firstText !== null, undefined, { polling: 20, timeout: 20_000 });
      const { entered, requested, stamped, received, firstText } = await page.evaluate(() => window.bench);
      times.push({ all: firstText - entered, request: requested - entered, model: stamped - requested, stream: received - stamped, view: firstText - received });
      await page.getByRole('button', { name: 'Send' }).waitFor();
    }
    await page.close();
  }
  return { first, next };
}

/** The whole time, and where it is spent: in the page, the server and the network until the model server sends, back, and in the page again. */
function firstTextFigures(name, times) {
  const figure = (part, share = 0.5) => percentile(times.map((time) => time[part]), share);
  return [
    [`Enter to first text, ${name}, p50`, figure('all'), 'ms'],
    [`Enter to first text, ${name}, slowest`, figure('all', 1), 'ms'],
    ['… from Enter to the request', figure('request'), 'ms'],
    ['… to the first token of the model server', figure('model'), 'ms'],
    ['… to its arrival in the page', figure('stream'), 'ms'],
    ['… to its text in the DOM', figure('view'), 'ms'],
  ];
}

/** A long answer: what the window in its middle was like. */
async function longAnswer(browser) {
  const page = await open(browser, '/', record);
  const { read, collectGarbage } = await counters(page);
  await send(page, 'bench long answer');
  await page.waitForFunction((count) => window.bench.late.length >= count, PER_SECOND, { polling: 100, timeout: 20_000 });
  const before = await read();
  const from = await page.evaluate(() => ({ tokens: window.bench.late.length, longTasks: window.bench.longTasks.length }));
  await new Promise((resolve) => setTimeout(resolve, WINDOW_SECONDS * 1000));
  const after = await read();
  const seen = await page.evaluate((from) => ({ late: window.bench.late.slice(from.tokens), longTasks: window.bench.longTasks.slice(from.longTasks) }), from);
  await page.getByRole('button', { name: 'Send' }).waitFor({ timeout: 20_000 });
  await collectGarbage();
  const heap = (await read()).JSHeapUsedSize;
  const busy = (name) => ((after[name] - before[name]) * 10) / (after.Timestamp - before.Timestamp);
  await page.close();
  return { ...seen, heap, busy: busy('TaskDuration'), scripting: busy('ScriptDuration'), layout: busy('LayoutDuration') + busy('RecalcStyleDuration') };
}
