import { takeClock } from '../support/clock.ts';
import { EventStream, runConversation } from '../support/events.ts';
import { hide, show } from '../support/presence.ts';
import { routeOnce } from '../support/requests.ts';
import { expect, test } from '../support/test.ts';

test('an unknown URL supports navigation', async ({ browserLog, chat, page }) => {
  browserLog.allow(/status of 404/);
  for (const path of ['/c/what', '/nothing/here']) {
    expect((await page.goto(path))?.status(), path).toBe(404);
    await expect(page.getByRole('heading', { name: 'There is nothing at this address.' })).toBeVisible();
  }
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await expect(chat.title).toHaveText('New chat');
  await chat.say('Hello');
  await chat.done();
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'There is nothing at this address.' })).toBeVisible();
  await page.evaluate(() => {
    window.dispatchEvent(new Event('online'));
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await chat.entry('Hello').click();
  await expect(chat.questions).toContainText('Hello');
  await chat.say('Again');
  await expect(chat.answers.last()).toContainText('Again');
});

test('nothing moves with reduced motion', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ gate: 'never' }] });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await chat.open();
  await chat.say('Hello');
  const dot = chat.answers.locator('.dots i').first();
  await expect(dot).toBeVisible();
  await expect(dot).toHaveCSS('animation-duration', '0.001s');
  await expect(dot).toHaveCSS('animation-iteration-count', '1');
  await expect(chat.send.or(chat.stop)).toHaveCSS('transition-duration', /^0\.001s/);
});

test('the tab title counts running and unseen conversations', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'rest' }] });
  await chat.open();
  await chat.begin('One');
  await expect(page).toHaveTitle('(1) One · Parlor');
  await chat.begin('Two');
  await expect(page).toHaveTitle('(2) Two · Parlor');
  await upstream.open('rest');
  await chat.done();
  await expect(page, 'the first end is unseen').toHaveTitle('(1) Two · Parlor');
  await chat.entry('One').click();
  await expect(page).toHaveTitle('One · Parlor');
});

test('one of the hidden tabs keeps its stream', async ({ chat, newTab, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'rest' }, { text: ', yes.' }] });
  const other = await newTab();
  for (const tab of [chat, other]) {
    await takeClock(tab.page);
    await tab.open();
    await hide(tab.page);
    await tab.page.clock.fastForward(11_000);
  }
  await EventStream.chat(parlor.url, { message: 'Is it?' });
  await chat.page.clock.fastForward(1000);
  await expect(chat.page, 'the first one').toHaveTitle('(1) Parlor');
  await expect(other.page).toHaveTitle('Parlor');

  // The following tab becomes visible, so the other hidden tab takes over.
  await show(chat.page);
  await expect(async () => {
    await other.page.clock.fastForward(300);
    expect(await other.page.title()).toBe('(1) Parlor');
  }).toPass();
  await show(other.page);
  await upstream.open('rest');
  for (const tab of [chat, other]) {
    await expect(tab.list).toContainText('has something new');
    await expect(tab.page).toHaveTitle('(1) Parlor');
  }
});

test.describe('in pages of five', () => {
  // Of two pages, the end of the first one is out of sight.
  test.use({ settings: '[limits]\nconversations_page = 5', viewport: { width: 1280, height: 300 } });

  test('the list says when a page failed to load', async ({ browserLog, chat, page, parlor }) => {
    browserLog.allowLostConnections();
    for (let n = 1; n <= 7; n++) await runConversation(parlor.url, `Chat number ${n}`);
    await routeOnce(page, '**/rpc/conversations', (route) => route.abort('connectionreset'));
    await chat.open();
    await expect(chat.entries).toHaveCount(5);
    await chat.list.getByRole('button', { name: 'Show older' }).scrollIntoViewIfNeeded();
    await expect(chat.list.getByRole('status')).toContainText('A part of the list could not be loaded.');
    await chat.list.getByRole('button', { name: 'Show older' }).dispatchEvent('click');
    await expect(chat.entries).toHaveCount(7);
    await expect(chat.list.getByText('A part of the list could not be loaded.')).toHaveCount(0);
  });
});
