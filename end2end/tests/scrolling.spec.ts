import type { Page } from '@playwright/test';
import { EventStream } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

const LONG = Array.from({ length: 60 }, (_, n) => `A paragraph of the long answer, number ${n}.\n\n`).join('');

/** The distance of the conversation's end below the visible part. */
function distanceToEnd(page: Page): Promise<number> {
  return page.getByRole('region', { name: 'Messages' }).evaluate((scroller) => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop);
}

test('the end stays visible while the composer grows', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: LONG }] });
  await chat.open();
  await chat.say('Go on');
  await chat.done();
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  await chat.message.fill('One\n'.repeat(9));
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  await page.setViewportSize({ width: 1280, height: 400 });
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
});

test('scrolling up stops following the answer', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: LONG }, { gate: 'more' }, { text: LONG }, { gate: 'rest' }] });
  await chat.open();
  await chat.say('Go on');
  await expect(chat.answers).toContainText('A paragraph');
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  const scroller = page.getByRole('region', { name: 'Messages' });
  await scroller.evaluate((scroller) => scroller.scrollBy(0, -20));
  await expect(page.getByRole('button', { name: 'Jump to latest' })).toBeVisible();
  const top = await scroller.evaluate((scroller) => scroller.scrollTop);
  await upstream.open('more');
  await upstream.reached('rest');
  await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(500);
  expect(await scroller.evaluate((scroller) => scroller.scrollTop)).toBe(top);
  await chat.stop.click();
  await expect(chat.toast('Response stopped.'), 'the end of the answer, which says it, is not in sight').toBeVisible();
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(1);
  await expect(scroller).toBeFocused();
});

test('scrolling before hydration keeps its position', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: LONG }] });
  const events = await (await EventStream.chat(parlor.url, { message: 'Go on' })).rest();
  let arrived = () => {};
  const scrolled = new Promise<void>((resolve) => (arrived = resolve));
  await page.route('**/*.wasm', async (route) => {
    await scrolled;
    await route.continue();
  });
  await page.goto(`/c/${events[0]!.conversation_id}`, { waitUntil: 'commit' });
  const scroller = page.getByRole('region', { name: 'Messages' });
  await expect.poll(() => distanceToEnd(page), 'the end is what one sees first').toBeLessThanOrEqual(1);
  await scroller.evaluate((scroller) => (scroller.scrollTop = 100));
  arrived();
  await chat.ready();
  expect(await scroller.evaluate((scroller) => scroller.scrollTop)).toBe(100);
  await expect(page.getByRole('button', { name: 'Jump to latest' })).toBeVisible();
});
