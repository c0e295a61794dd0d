// Typing while answers stream: the time between frames, in the conversation of one of four running answers.
import { PER_SECOND, open, percentile, quick, script, send } from './support.mjs';

const RUNNING = 4;
const KEYS = quick ? 20 : 150;
/** The pause between two keys, as of somebody who types fast, in milliseconds. */
const KEY_PAUSE = 60;

export async function typing(browser) {
  const text = Array.from({ length: 3000 }, (_, n) => `${n % 12 === 0 ? '\n\n- ' : ''}Word **${n}** and \`code\`. `).join('');
  await script('bench typing', [{ stream: { text, per_second: PER_SECOND } }]);
  const page = await open(browser, '/', record);
  for (let run = 0; run < RUNNING; run++) {
    if (run > 0) await page.getByRole('link', { name: 'New chat' }).first().click();
    await send(page, `bench typing ${run}`);
    await page.locator('.answer', { hasText: 'Word' }).waitFor();
  }
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.focus();
  await page.evaluate(() => (window.frames = []));
  await box.pressSequentially('a bit '.repeat(Math.ceil(KEYS / 6)), { delay: KEY_PAUSE });
  const frames = await page.evaluate(() => window.frames);
  await page.close();
  return [
    ['typing while four answers stream: a frame takes, p50', percentile(frames, 0.5), 'ms'],
    ['typing while four answers stream: a frame takes, p95', percentile(frames, 0.95), 'ms'],
    ['typing while four answers stream: a frame takes, longest', percentile(frames, 1), 'ms'],
    ['… frames', frames.length, ''],
  ];
}

/** Runs in the page, before anything else: notes the time since the frame before. */
function record() {
  window.frames = [];
  let last;
  const frame = (now) => {
    if (last !== undefined) window.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
