/** Tabs that are hidden, frozen by the browser, or suspended with the machine. */
import type { Page } from '@playwright/test';
import type { Chat } from '../support/chat.ts';
import { takeClock } from '../support/clock.ts';
import { EventStream } from '../support/events.ts';
import type { Line } from '../support/line.ts';
import { freeze, hide, hideWithStream, show } from '../support/presence.ts';
import { Requests } from '../support/requests.ts';
import { expect, test } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

test('hidden tabs share one stream and catch up when shown', async ({ chat, newTab, upstream }) => {
  await upstream.script({ steps: [{ text: 'One' }, { gate: 'two' }, { text: ', two' }, { gate: 'three' }, { text: ', three.' }] });
  const first = new Requests(chat.page);
  await takeClock(chat.page);
  await chat.open();
  const path = await chat.begin('Count');
  await expect(chat.answers).toContainText('One');
  await hideWithStream(chat.page);
  const other = await newTab();
  const second = new Requests(other.page);
  await takeClock(other.page);
  await other.open(path);
  await hide(other.page);
  await expect.poll(() => second.open('/rpc/events')).toBe(0);
  expect(first.open('/rpc/events'), 'the first goes on').toBe(1);
  await upstream.open('two');
  await expect(chat.answers).toContainText('One, two');
  await expect(other.answers.locator('.prose'), 'nobody tells the other').toHaveText('One');

  const [streams, snapshots] = [second.made('/rpc/events'), second.made('/rpc/conversation')];
  await show(other.page);
  await expect(other.answers.locator('.prose')).toHaveText('One, two');
  await upstream.open('three');
  for (const tab of [chat, other]) await expect(tab.answers.locator('.prose')).toHaveText('One, two, three.');
  expect(second.made('/rpc/events') - streams, 'one stream brought it').toBe(1);
  expect(second.made('/rpc/conversation') - snapshots, 'and no snapshot').toBe(0);
  expect(first.made('/rpc/events'), 'the first has the one that it began with').toBe(1);
});

test('a background tab opens no stream until shown', async ({ chat, newTab, parlor }) => {
  await chat.open();
  await hide(chat.page);
  const other = await newTab();
  await other.page.addInitScript(() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }));
  const requests = new Requests(other.page);
  await other.open();
  await (await EventStream.chat(parlor.url, { message: 'Meanwhile' })).rest();
  await expect(chat.titles, 'the following tab').toHaveText(['Meanwhile']);
  expect(requests.made('/rpc/events')).toBe(0);
  await show(other.page);
  await expect(other.titles).toHaveText(['Meanwhile']);
  expect(requests.made('/rpc/events')).toBe(1);
});

test('a frozen page shows the whole answer on waking', async ({ chat, newTab, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'One' }, { gate: 'two' }, { text: ', **two**' }, { gate: 'three' }, { text: ', three.' }] });
  await chat.open();
  await chat.begin('Count');
  await expect(chat.answers).toContainText('One');
  const wake = await freeze(page);
  await upstream.open('two');
  const other = await newTab();
  await other.open(chat.path);
  await expect(other.answers.locator('.prose')).toHaveText('One, two');
  await wake();
  await expect(chat.answers.locator('.prose')).toHaveText('One, two');
  await upstream.open('three');
  await chat.done();
  const live = await chat.messages.innerText();
  expect(live).toContain('One, two, three.');
  await chat.reload();
  expect(await chat.messages.innerText()).toBe(live);
});

test('a frozen page shows the outcome after a restart', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ text: ', three' }] });
  await upstream.script({ when: { user_contains: 'Count' }, steps: [{ text: 'One' }, { gate: 'two' }, { text: ', two' }, { gate: 'never' }], times: 1 });
  await chat.open();
  await chat.begin('Count');
  await expect(chat.answers).toContainText('One');
  const log = await EventStream.everything(parlor.url);
  await log.until('text_delta');
  const wake = await freeze(page);
  await upstream.open('two');
  expect(await log.until('text_delta')).toMatchObject({ text: ', two' });
  log.close();
  // The end is not delivered.
  await parlor.kill();
  await parlor.start();
  await wake();
  await expect(chat.answers.locator('.prose')).toHaveText('One, two, three');
  await chat.done();
  await expect(page.getByText('Reconnecting…')).toHaveCount(0);
  const live = await chat.messages.innerText();
  await chat.reload();
  expect(await chat.messages.innerText()).toBe(live);
});

const count = [{ text: 'One' }, { gate: 'two' }, { text: ', two' }, { gate: 'three' }, { text: ', three.' }];

/** Shows "One", then drops the connection silently while the answer continues. */
async function dropConnectionSilently({ chat, page, line, upstream }: { chat: Chat; page: Page; line: Line; upstream: Upstream }): Promise<void> {
  await upstream.script({ steps: count });
  await takeClock(page);
  await chat.open(line.url);
  await chat.begin('Count');
  await expect(chat.answers).toContainText('One');
  line.silence();
  await upstream.open('two');
  await upstream.reached('three');
}

test('a silent connection is replaced', async ({ chat, page, line, upstream }) => {
  await dropConnectionSilently({ chat, page, line, upstream });
  const streams = new Requests(page);
  await page.clock.fastForward(30_000);
  expect(streams.made('/rpc/events'), 'it may still be a pause').toBe(0);
  line.mend();
  await page.clock.fastForward(11_000);
  await expect(chat.answers.locator('.prose')).toHaveText('One, two');
  await upstream.open('three');
  await expect(chat.answers.locator('.prose')).toHaveText('One, two, three.');
});

for (const [what, wake] of [
  ['is looked at', (page: Page) => show(page)],
  ['has a network again', (page: Page) => page.evaluate(() => void window.dispatchEvent(new Event('online')))],
] as const) {
  test(`reconnects after machine sleep once it ${what}`, async ({ chat, page, line, upstream }) => {
    await dropConnectionSilently({ chat, page, line, upstream });
    // The page's timers stop while the system time advances by an hour.
    await page.clock.pauseAt(new Date(Date.now() + 1000));
    await page.clock.setSystemTime(new Date(Date.now() + 3_600_000));
    line.mend();
    const stream = page.waitForRequest('**/rpc/events?*');
    await wake(page);
    await stream;
    await page.clock.resume();
    await expect(chat.answers.locator('.prose')).toHaveText('One, two');
    await upstream.open('three');
    await chat.done();
    await expect(chat.answers.locator('.prose')).toHaveText('One, two, three.');
  });
}
