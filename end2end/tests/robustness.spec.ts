import { takeClock } from '../support/clock.ts';
import { EventStream } from '../support/events.ts';
import { routeOnce } from '../support/requests.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

test('a killed server loses nothing that was shown', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ text: ' and more' }] });
  await upstream.script({ when: { user_contains: 'Tell' }, steps: [{ text: 'What was shown' }, { gate: 'never' }], times: 1 });
  await chat.open();
  await chat.begin('Tell me');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();

  await parlor.kill();
  await expect(page.getByRole('status').getByText('Reconnecting…')).toBeVisible();
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await parlor.start();
  await expect(page.getByText('Reconnecting…')).toHaveCount(0);

  // It goes on by itself.
  await expect(chat.answers.getByText('What was shown and more', { exact: true })).toBeVisible();
  await chat.done();
  await expect(chat.problem).toHaveCount(0);
});

test('a page opened after the crash shows the same', async ({ chat, newTab, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ gate: 'never' }] });
  await upstream.script({ steps: [{ text: 'What was shown' }, { gate: 'never' }], times: 1 });
  await chat.open();
  const path = await chat.begin('Tell me');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await chat.page.close();
  await parlor.kill();
  await parlor.start();
  const again = await newTab();
  await again.open(path);
  await expect(again.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await expect(again.problem).toHaveCount(0);
  await again.stop.click();
  await again.done();
});

test('an answer goes on after a restart', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ text: ' and more' }] });
  await upstream.script({ when: { user_contains: 'Tell' }, steps: [{ text: 'What was shown' }, { gate: 'never' }], times: 1 });
  await chat.open();
  await chat.begin('Tell me');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await parlor.restart();
  await expect(chat.answers.getByText('What was shown and more', { exact: true })).toBeVisible();
  await chat.done();
  await expect(page.getByText('Reconnecting…')).toHaveCount(0);
  await expect(chat.problem).toHaveCount(0);
});

test('an offline message waits and is sent once', async ({ chat, page, parlor, upstream }) => {
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await parlor.kill();
  await chat.say('Are you there?');
  await expect(page.getByText('Waiting for the connection…')).toBeVisible();
  await screenshots(page, 'waiting');
  await expect(chat.message).toHaveValue('');
  await parlor.start();
  await expect(chat.answers.last()).toContainText('Are you there?');
  await expect(chat.questions).toHaveText([/Hello/, /Are you there\?/]);
  await expect(page.getByText('Waiting for the connection…')).toHaveCount(0);
  await chat.done();
  expect(await upstream.asked()).toHaveLength(2);
});

test('an offline first message starts its conversation later', async ({ chat, page, parlor }) => {
  await chat.open();
  await parlor.kill();
  await chat.say('Are you there?');
  await expect(page.getByText('Waiting for the connection…')).toBeVisible();
  await parlor.start();
  await expect(chat.answers).toContainText('Are you there?');
  await expect(chat.titles).toHaveText(['Are you there?']);
});

test('the next page sends a waiting message', async ({ browserLog, chat, newTab, page, parlor, upstream }) => {
  await chat.open();
  await parlor.kill();
  await chat.say('Are you there?');
  await expect(page.getByText('Waiting for the connection…')).toBeVisible();
  const { path } = chat;
  const again = await newTab();
  await page.close();
  // The server does not know the conversation.
  browserLog.allow(/status of 404/);
  await parlor.start();
  await again.page.goto(path);
  await expect(again.questions).toHaveText([/Are you there\?/]);
  await expect(again.answers).toContainText('Are you there?');
  await again.done();
  await again.reload();
  await expect(again.questions).toHaveCount(1);
  await expect(again.titles).toHaveText(['Are you there?']);
  expect(await upstream.asked()).toHaveLength(1);
});

test('a reload during sending keeps one message', async ({ chat, page, parlor, upstream }) => {
  await chat.open();
  const path = await chat.begin('Hello');
  await chat.done();
  // The request hangs: it neither arrives nor fails.
  await routeOnce(page, '**/rpc/send_message', () => {});
  await chat.say('Still there?');
  await chat.page.goto(path);
  await expect(chat.questions).toHaveText([/Hello/, /Still there\?/]);
  await expect(chat.answers.last()).toContainText('Still there?');
  await chat.done();
  await chat.reload();
  await expect(chat.questions).toHaveText([/Hello/, /Still there\?/]);
  await expect(chat.message).toHaveValue('');
  expect(await upstream.asked()).toHaveLength(2);
});

test('a waiting message can be withdrawn', async ({ chat, page, parlor }) => {
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await parlor.kill();
  await chat.say('Are you their?');
  await page.getByRole('button', { name: 'Edit message' }).click();
  await expect(chat.message).toHaveValue('Are you their?');
  await expect(chat.message).toBeFocused();
  await expect(chat.questions).toHaveCount(1);
  await parlor.start();
  await chat.say('Are you there?');
  await expect(chat.answers.last()).toContainText('Are you there?');
  await chat.reload();
  await expect(chat.questions).toHaveText([/Hello/, /Are you there\?/]);
});

test('an unanswered request times out and is retried', async ({ chat, page, upstream }) => {
  await takeClock(page);
  await chat.open();
  await routeOnce(page, '**/rpc/send_message', () => {});
  await chat.say('Anybody?');
  await expect(chat.answers).toHaveCount(0);
  await page.clock.fastForward(20_000);
  await page.clock.fastForward(20_000);
  await expect(chat.answers).toContainText('Anybody?');
  await expect(chat.questions).toHaveCount(1);
  await chat.done();
  expect(await upstream.asked()).toHaveLength(1);
});

test('a delivered message ends the reconnect backoff', async ({ chat, page, parlor }) => {
  await takeClock(page);
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await parlor.kill();
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  // After many retries the page waits up to 15 seconds; from here on only user actions count.
  for (let tries = 0; tries < 8; tries++) await page.clock.fastForward(15_000);
  await page.clock.pauseAt(new Date(Date.now() + 24 * 60 * 60 * 1000));
  await parlor.start();
  await chat.message.fill('Back?');
  await chat.message.press('Enter');
  await expect.poll(async () => {
    await page.clock.runFor(100);
    return chat.answers.last().textContent();
  }).toContain('Back?');
});

test('losing and regaining the network shows at once', async ({ chat, page, context }) => {
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  const sign = page.getByRole('status').getByText('Reconnecting…');
  await expect(sign).toHaveCount(0);
  await context.setOffline(true);
  await expect(sign).toBeVisible();
  await context.setOffline(false);
  await expect(sign).toHaveCount(0);
});

test('a message queued without a connection is shown at once', async ({ browserLog, chat, page, context, upstream }) => {
  browserLog.allowLostConnections();
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'rest' }, { text: ', yes.' }] });
  await chat.open();
  await chat.begin('Is it?');
  await expect(chat.answers).toContainText('Well');
  await context.setOffline(true);
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await chat.message.fill('Are you there?');
  await chat.message.press('Enter');
  await expect(page.getByRole('region', { name: 'Queued messages' })).toContainText('Are you there?');
  await expect(page.getByText('could not be loaded')).toHaveCount(0);
  await context.setOffline(false);
  await upstream.open('rest');
  await expect(chat.answers).toHaveCount(2);
  await chat.done();
});

test('shown content stays until it can be reloaded', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'cut off' }, steps: [{ text: ', yes.' }] });
  await upstream.script({ when: { user_contains: 'Is it' }, steps: [{ text: 'Well' }, { gate: 'never' }], times: 1 });
  await chat.open();
  await chat.begin('Is it?');
  await expect(chat.answers.getByText('Well', { exact: true })).toBeVisible();
  let refused = 0;
  await page.route('**/rpc/conversation?*', (route) => (refused++ < 2 ? route.abort('connectionreset') : route.continue()));
  // The log does not reach back to the page's position.
  await routeOnce(page, '**/rpc/events?*', (route) => route.fulfill({ contentType: 'text/event-stream', body: 'data: {"type":"reset"}\n\n' }));
  await parlor.restart();
  await expect.poll(() => refused, 'the request is retried').toBeGreaterThan(1);
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await expect(chat.answers.getByText('Well', { exact: true })).toBeVisible();
  await expect(page.getByText('Reconnecting…')).toHaveCount(0);
  await expect(chat.answers.getByText('Well, yes.', { exact: true })).toBeVisible();
  expect(refused).toBeGreaterThan(2);
});

test('a lost response does not duplicate the message', async ({ chat, page, parlor }) => {
  await chat.open();
  // The request arrives, but its response does not.
  await routeOnce(page, '**/rpc/send_message', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await chat.message.fill('Only once');
  await chat.message.press('Enter');
  const log = await EventStream.everything(parlor.url);
  await log.until('complete');
  log.close();
  await chat.entry('Only once').click();
  await expect(chat.questions).toHaveText([/Only once/]);
  await expect(chat.answers).toHaveText([/Only once/]);
  await expect(page.getByText('Not sent.')).toHaveCount(0);
  await chat.newChat.click();
  await expect(chat.title).toHaveText('New chat');
  await expect(chat.message).toHaveValue('');
});

test('events missed while offline appear after reconnecting', async ({ chat, parlor }) => {
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await parlor.kill();
  await parlor.start();
  const conversation_id = chat.path.slice('/c/'.length);
  await (await EventStream.chat(parlor.url, { message: 'Meanwhile', conversation_id })).rest();
  await (await EventStream.chat(parlor.url, { message: 'Elsewhere' })).rest();
  await expect(chat.questions).toHaveText([/Hello/, /Meanwhile/]);
  await expect(chat.titles).toHaveText(['Elsewhere', 'Hello']);
});
