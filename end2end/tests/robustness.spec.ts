import { EventStream } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // Each connection that cannot be made or breaks is in the browser's log.
  browserLog.allow(/Failed to load resource: net::ERR_/);
});

test('a server that dies in mid-answer and comes back: the page notices, and nothing that was shown is lost', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'Another answer' }] });
  await upstream.script({ steps: [{ text: 'What was shown' }, { gate: 'never' }, { text: ' and more' }], times: 1 });
  await chat.open();
  await chat.begin('Tell me');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();

  await parlor.kill();
  await expect(page.getByRole('status').getByText('Reconnecting…')).toBeVisible();
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await parlor.start();
  await expect(page.getByText('Reconnecting…')).toHaveCount(0, { timeout: 20_000 });

  const problem = chat.answers.getByRole('alert');
  await expect(problem).toContainText(/The answer was interrupted\..*What had come is kept\./);
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await problem.getByRole('button', { name: 'Retry' }).click();
  await expect(chat.answers.getByText('Another answer', { exact: true })).toBeVisible();
  await chat.done();
});

test('a page that is opened after the server died shows the same', async ({ chat, newTab, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'What was shown' }, { gate: 'never' }] });
  await chat.open();
  const path = await chat.begin('Tell me');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await chat.page.close();
  await parlor.kill();
  await parlor.start();
  const again = await newTab();
  await again.open(path);
  await expect(again.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await expect(again.answers.getByRole('alert')).toContainText('The answer was interrupted.');
  await expect(again.send).toBeVisible();
});

test('a server that is asked to stop ends the answer, which says so', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'What was shown' }, { gate: 'never' }] });
  await chat.open();
  await chat.begin('Tell me');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await parlor.restart();
  await expect(chat.answers.getByRole('alert')).toContainText('The answer was interrupted.');
  await expect(chat.answers.getByText('What was shown', { exact: true })).toBeVisible();
  await expect(page.getByText('Reconnecting…')).toHaveCount(0);
});

test('a message that cannot be sent is not lost, and is there once when it is sent again', async ({ chat, page, parlor }) => {
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await parlor.kill();
  await chat.message.fill('Are you there?');
  await chat.message.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Not sent. The server could not be reached.');
  await expect(chat.message).toHaveValue('Are you there?');
  await expect(chat.questions).toHaveCount(1);
  await parlor.start();
  await chat.send.click();
  await expect(chat.questions).toHaveText([/Hello/, /Are you there\?/]);
  await expect(chat.answers.last()).toContainText('Are you there?');
  await expect(chat.message).toHaveValue('');
  await expect(page.getByText('Not sent.')).toHaveCount(0);
});

test('a first message that cannot be sent waits in the new chat', async ({ chat, page, parlor }) => {
  await chat.open();
  await parlor.kill();
  await chat.message.fill('Are you there?');
  await chat.message.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Not sent. The server could not be reached.');
  await expect(chat.title).toHaveText('New chat');
  await expect(chat.message).toHaveValue('Are you there?');
  await parlor.start();
  await chat.send.click();
  await expect(chat.answers).toContainText('Are you there?');
  await expect(chat.entries).toHaveText(['Are you there?']);
});

test('a message whose answer got lost on the way is there once', async ({ chat, page, parlor }) => {
  await chat.open();
  // It arrives, but the browser never learns that it did.
  await page.route('**/rpc/send_message', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  }, { times: 1 });
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

test('what happened while the connection was lost is there when it is back', async ({ chat, parlor }) => {
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await parlor.kill();
  await parlor.start();
  const conversation_id = chat.path.slice('/c/'.length);
  await (await EventStream.chat(parlor.url, { message: 'Meanwhile', conversation_id })).rest();
  await (await EventStream.chat(parlor.url, { message: 'Elsewhere' })).rest();
  await expect(chat.questions).toHaveText([/Hello/, /Meanwhile/]);
  await expect(chat.entries).toHaveText(['Elsewhere', 'Hello']);
});
