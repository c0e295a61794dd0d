/** Many tabs of one browser, which share six connections. */
import type { Chat } from '../support/chat.ts';
import { EventStream } from '../support/events.ts';
import { hide, show } from '../support/presence.ts';
import { Requests } from '../support/requests.ts';
import { expect, test } from '../support/test.ts';

/**
 * A request that finds all connections taken waits until a tab is closed. Other delays are measured by `make bench`,
 * since they depend on the load of the machine.
 */
const STUCK_MS = 15_000;

/** Expects that no request waits, but for the event streams. */
async function expectNoneWaiting(requests: Requests): Promise<void> {
  await expect.poll(() => requests.openExcept('/rpc/events'), { message: 'open requests', timeout: STUCK_MS }).toEqual([]);
}

/** The longest time in milliseconds from a tab's finished request to its response, including the browser's queue. */
function longestWait(tab: Chat): Promise<number> {
  return tab.page.evaluate(() => {
    const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const waits = (entries as PerformanceResourceTiming[]).map((entry) => entry.responseStart - entry.fetchStart);
    return Math.max(...waits);
  });
}

test('ten tabs and eight answers delay no request', async ({ chat, context, newTab, parlor, upstream }) => {
  const names = Array.from({ length: 8 }, (_, n) => `Run ${n + 1}.`);
  await upstream.script({ when: { user_contains: 'Run' }, steps: [{ text: 'It begins' }, { gate: 'end' }, { text: ' and ends.' }] });
  await upstream.script({ when: { user_contains: 'Stop' }, steps: [{ text: 'On and on' }, { gate: 'never' }] });
  const requests = new Requests(context);
  const running: Chat[] = [];
  for (const name of names) {
    const stream = await EventStream.chat(parlor.url, { message: name });
    const { conversation_id } = await stream.until('text_delta');
    stream.close();
    const tab = await newTab();
    await tab.open(`/c/${conversation_id}`);
    await expect(tab.answers).toContainText('It begins');
    await hide(tab.page);
    running.push(tab);
  }
  const idle = await newTab();
  await idle.open();
  await hide(idle.page);
  await chat.open();
  await expect.poll(() => requests.open('/rpc/events'), 'the tab that is seen, and one more').toBe(2);

  // User actions in the visible tab.
  await chat.begin('Stop this');
  await expect(chat.answers).toContainText('On and on');
  await chat.stop.click();
  await expect(chat.answers).toContainText('Stopped');
  await chat.press('Rename', 'Stop this');
  const field = chat.list.getByRole('textbox', { name: 'Title of the conversation' });
  await field.fill('Stopped it');
  await field.press('Enter');
  await expect(chat.title).toHaveText('Stopped it');
  await chat.entry('Run 1.').click();
  await expect(chat.answers).toContainText('It begins');
  await hide(chat.page);
  const fresh = await newTab();
  await fresh.open();
  await expect(fresh.titles).toHaveText(['Stopped it', ...names.toReversed()]);
  await expectNoneWaiting(requests);
  for (const tab of [...running, idle, chat, fresh]) expect(await longestWait(tab), 'what a request waited for').toBeLessThan(STUCK_MS);
  await expect.poll(() => requests.open('/rpc/events')).toBe(2);

  // Each tab shows the end when it becomes visible, and a seen answer has no dot in any tab.
  await upstream.open('end');
  const news = (tab: Chat) => tab.list.getByRole('listitem').filter({ hasText: 'has something new' });
  await expect(news(fresh)).toHaveCount(names.length);
  await hide(fresh.page);
  for (const [n, tab] of running.entries()) {
    await show(tab.page);
    await expect(tab.answers.locator('.prose')).toHaveText('It begins and ends.');
    await expect(tab.list).not.toContainText('is answering');
    await expect(news(tab)).toHaveCount(names.length - n - 1);
    await hide(tab.page);
  }
  for (const tab of [idle, chat, fresh]) {
    await show(tab.page);
    await expect(news(tab)).toHaveCount(0);
    await expect(tab.titles).toHaveText(['Stopped it', ...names.toReversed()]);
    await hide(tab.page);
  }
  await expect.poll(() => requests.open('/rpc/events'), 'one of those that nobody sees').toBe(1);
});

test('switching through ten tabs delays nothing', async ({ chat, context, newTab }) => {
  const tabs: Chat[] = [];
  for (let n = 0; n < 10; n++) {
    const tab = await newTab();
    await tab.open();
    await hide(tab.page);
    tabs.push(tab);
  }
  const requests = new Requests(context);
  for (const tab of tabs) {
    await show(tab.page);
    await hide(tab.page);
  }
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await expectNoneWaiting(requests);
  expect(await longestWait(chat)).toBeLessThan(STUCK_MS);
  await expect.poll(() => requests.open('/rpc/events')).toBeLessThanOrEqual(2);
});
