/** A page that the log cannot bring up to date reloads snapshots unnoticed. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { EventStream, textOf } from '../support/events.ts';
import { Requests } from '../support/requests.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

/** Watches the conversation from now on; returns the visible changes. */
async function watch(page: Page): Promise<() => Promise<{ fewest: number; replaced: boolean; removed: string[] }>> {
  await page.evaluate(() => {
    const count = () => document.querySelectorAll('[role=log] article').length;
    const log = document.querySelector('[role=log]')!;
    const seen = { fewest: count(), replaced: false, removed: [] as string[] };
    new MutationObserver((changes) => {
      seen.fewest = Math.min(seen.fewest, count());
      seen.replaced ||= !log.isConnected;
      for (const { removedNodes } of changes) {
        for (const node of removedNodes) if (node instanceof HTMLElement && node.matches('article')) seen.removed.push(node.innerText);
      }
    }).observe(document.querySelector('main')!, { childList: true, subtree: true });
    Object.assign(window, { seen });
  });
  return () => page.evaluate(() => (window as any).seen);
}

/** The text of an answer on the server. */
async function storedText(url: string, id: string): Promise<string> {
  const { message } = await (await fetch(`${url}/api/messages/${id}`)).json();
  const parts = message.nodes.flatMap((node: any) => node.parts) as { type: string; text: string }[];
  return parts.filter(({ type }) => type === 'text').map(({ text }) => text).join('');
}

test.describe('with a short log', () => {
  test.use({ settings: '[log]\nkeep_events = 5\ntrim_interval = "100ms"' });

  test('a page away longer than the log recovers unnoticed', async ({ chat, page, parlor, line, upstream }) => {
    const long = Array.from({ length: 60 }, (_, n) => `Line ${n} of it.`).join('\n\n');
    await upstream.script({ when: { user_contains: 'first' }, steps: [{ text: long }] });
    await upstream.script({ when: { user_contains: 'second' }, steps: [{ text: 'It' }, { gate: 'second' }, { text: ' is so.' }] });
    await upstream.script({ when: { user_contains: 'third' }, steps: [{ text: 'And' }, { gate: 'third' }, { text: ' so' }, { gate: 'end' }, { text: ' it ends.' }] });
    await chat.open(line.url);
    const path = await chat.begin('first');
    await chat.done();
    await chat.say('second');
    await expect(chat.answers.last()).toContainText('It');
    // While scrolled up, with a draft.
    const scroller = page.getByRole('region', { name: 'Messages' });
    await chat.message.fill('half a thought');
    await scroller.hover();
    await page.mouse.wheel(0, -700);
    await expect(page.getByRole('button', { name: 'Jump to latest' })).toBeVisible();
    await chat.message.focus();
    const scrolled = await scroller.evaluate((element) => element.scrollTop);

    const retry = page.waitForRequest('**/rpc/events?*');
    line.cut();
    // The page's last position.
    const cursor = Number(new URL((await retry).url()).searchParams.get('after'));
    await expect(page.getByText('Reconnecting…')).toBeVisible();
    await upstream.open('second');
    for (const name of ['Ant', 'Bee', 'Cat']) await (await EventStream.chat(parlor.url, { message: name })).rest();
    const third = await EventStream.chat(parlor.url, { message: 'third', conversation_id: path.slice('/c/'.length) });
    const { expected_assistant_message_id } = await third.until('user_message_saved');
    await upstream.reached('third');
    await expect.poll(async () => {
      const events = await EventStream.everything(parlor.url, cursor);
      const first = await events.next();
      events.close();
      return first?.type;
    }).toBe('reset');

    const seen = await watch(page);
    const requests = new Requests(page);
    line.mend();
    await expect(chat.answers).toHaveText([/Line 59 of it/, /It is so\./, /^AnswerAnd/]);
    expect(requests.made('/rpc/conversations'), 'it was told to begin anew').toBe(1);
    await expect(chat.questions).toHaveText([/first/, /second/, /third/]);
    await expect(chat.titles).toHaveText(['first', 'Cat', 'Bee', 'Ant']);
    await expect(chat.list.getByRole('listitem').filter({ hasText: 'first' })).toContainText('is answering');
    await expect(chat.message).toHaveValue('half a thought');
    await expect(chat.message).toBeFocused();
    expect(await scroller.evaluate((element) => element.scrollTop)).toBe(scrolled);
    await expect(page.getByText('Reconnecting…')).toHaveCount(0);

    await upstream.open('third');
    await expect(chat.answers.last().locator('.prose'), 'it goes on live').toHaveText('And so');
    await upstream.open('end');
    await chat.done();
    const whole = await storedText(parlor.url, expected_assistant_message_id);
    expect(whole).toBe(textOf(await third.rest()));
    await expect(chat.answers.last().locator('.prose')).toHaveText(whole);
    expect(await seen()).toEqual({ fewest: 4, replaced: false, removed: [] });
    expect(requests.made('/rpc/conversations'), 'once').toBe(1);
    const live = await chat.messages.innerText();
    await chat.reload();
    expect(await chat.messages.innerText()).toBe(live);
  });
});

test('messages missing from restored data stay, marked incomplete', async ({ browserLog, chat, newTab, page, parlor, upstream }) => {
  browserLog.allow(/status of 404/);
  await upstream.script({ steps: [{ text: 'Of course, **and** more.' }] });
  await chat.open();
  await chat.begin('Before');
  await chat.done();
  await parlor.stop();
  await parlor.backUp();
  await parlor.start();
  await chat.say('After');
  await expect(chat.answers).toHaveCount(2);
  await chat.done();
  const other = await newTab();
  await other.open();
  await other.begin('Elsewhere');
  await other.done();
  await other.message.fill('half a thought');
  await parlor.stop();
  await parlor.restore();
  await parlor.start();

  const lost = page.getByRole('region', { name: 'Not on the server' });
  await expect(lost).toContainText('Incomplete: the server has no record of these messages');
  await expect(lost.getByRole('article')).toHaveText([/After/, /Of course, and more\./]);
  await expect(chat.questions).toHaveText([/Before/, /After/]);
  await expect(chat.titles).toHaveText(['Before']);
  await expect(lost.getByRole('button', { name: 'Copy' })).toHaveCount(2);
  await screenshots(page, 'lost');
  await expectAccessible(page);

  // The conversation can be continued from the server's state.
  await chat.say('Again');
  await chat.done();
  await expect(chat.questions).toHaveText([/Before/, /After/, /Again/]);
  await expect(lost.getByRole('article')).toHaveCount(2);

  // A conversation missing from the data starts over below its old messages.
  const lostThere = other.page.getByRole('region', { name: 'Not on the server' });
  await expect(lostThere.getByRole('article')).toHaveText([/Elsewhere/, /Of course, and more\./]);
  await expect(other.title).toHaveText('Elsewhere');
  await expect(other.message).toHaveValue('half a thought');
  await other.message.press('Enter');
  await expect(other.questions).toHaveText([/Elsewhere/, /half a thought/]);
  await other.done();

  // Only the server's state is left.
  await chat.reload();
  await expect(lost).toHaveCount(0);
  await expect(chat.questions).toHaveText([/Before/, /Again/]);
});
