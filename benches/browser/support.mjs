// Shared helpers of the measurements: Chromium, the page, the scripted model server.
import { createRequire } from 'node:module';
import { packagedChromium } from '../../end2end/support/chromium.mjs';

export const [parlor, upstream, ...flags] = process.argv.slice(2);
export const quick = flags.includes('--quick');
/** The value of a flag `--name=value`, if it is given. */
export const flag = (name) => flags.find((given) => given.startsWith(`--${name}=`))?.split('=')[1];
export const PER_SECOND = 50;

export function launch() {
  let playwright;
  try {
    playwright = createRequire(new URL('../../end2end/package.json', import.meta.url))('@playwright/test');
  } catch {
    throw new Error('Playwright is not installed: make test-e2e does that');
  }
  return playwright.chromium.launch({
    executablePath: packagedChromium({ hasWindows: true }),
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--disable-background-networking', '--disable-component-update', '--no-first-run'],
  });
}

async function control(method, what, body) {
  const response = await fetch(`${upstream}/control/${what}`, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the scripted model server: ${response.status} ${await response.text()}`);
}

/** What the model server answers to messages with these words. */
export const script = (user_contains, steps) => control('POST', 'scripts', { when: { user_contains }, steps });
/** Waits until the answer stands at a gate. */
export const reached = (gate) => control('GET', `gates/${gate}`);
/** Lets it go on. */
export const pass = (gate) => control('POST', `gates/${gate}`);

/** A page that the browser has taken over. `init` runs in it before anything else. Throws if that takes too long. */
export async function open(browser, path = '/', init) {
  const page = await browser.newPage();
  if (init) await page.addInitScript(init);
  // Only the hydrated page opens the event stream.
  const taken = page.waitForResponse((response) => response.headers()['content-type']?.startsWith('text/event-stream'), { timeout: 20_000 });
  try {
    await Promise.all([taken, page.goto(parlor + path)]);
  } catch (error) {
    await page.close();
    throw error;
  }
  return page;
}

export async function send(page, text) {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

/** Chromium's own counters: seconds of work, bytes of heap. */
export async function counters(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const read = async () => Object.fromEntries((await devtools.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  return { read, collectGarbage: () => devtools.send('HeapProfiler.collectGarbage') };
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
