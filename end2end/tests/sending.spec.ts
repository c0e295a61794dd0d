import { EventStream } from '../support/events.ts';
import { routeOnce } from '../support/requests.ts';
import { expect, test } from '../support/test.ts';

test('a message sent while loading uses the conversation’s model', async ({ chat, page, parlor, upstream }) => {
  const events = await (await EventStream.chat(parlor.url, { message: 'First', model: 'openai/words' })).rest();
  await chat.open();
  let loaded = () => {};
  const loading = new Promise<void>((resolve) => (loaded = resolve));
  await page.route('**/rpc/conversation?*', async (route) => {
    await loading;
    await route.continue();
  });
  await chat.entry('First').click();
  await chat.message.fill('Second');
  await chat.message.press('Enter');
  await expect(chat.questions).toHaveText([/Second/]);
  await expect(chat.stop).toBeVisible();
  await chat.message.fill('Third');
  await chat.message.press('Enter');
  await expect(chat.message, 'never refuses a message').toHaveValue('');
  await expect.poll(() => upstream.asked()).toHaveLength(3);
  loaded();
  await expect(chat.questions, 'sends one message at a time').toHaveText([/First/, /Second/, /Third/]);
  await chat.done();
  expect((await upstream.asked()).map(({ model }) => model)).toEqual(['words', 'words', 'words']);
  await expect(chat.model).toHaveAccessibleName('Model: words');
  expect(events[0]!.conversation_id).toBe(chat.path.slice('/c/'.length));
});

test('a message is sent before its conversation is shown', async ({ chat }) => {
  await chat.open();
  await chat.message.fill('Hello');
  const requested = await chat.message.evaluate((box) => {
    const paths: string[] = [];
    const { fetch } = window;
    window.fetch = (resource, ...rest) => {
      paths.push(new URL(resource instanceof Request ? resource.url : resource, location.href).pathname);
      return fetch(resource, ...rest);
    };
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    // What the event itself has requested: nothing else has run since.
    return [...paths];
  });
  expect(requested).toEqual(['/rpc/send_message']);
  await chat.done();
  await expect(chat.answers.last()).toContainText('Hello');
});

test('a draft that starts like the sent message is kept', async ({ browserLog, chat, page }) => {
  browserLog.allow(/status of 500/);
  await chat.open();
  const path = await chat.begin('Hello');
  await chat.done();
  // The server stores the message, but the response reports a failure.
  await routeOnce(page, '**/rpc/send_message', async (route) => {
    await route.fetch();
    await chat.message.fill('High five');
    await route.fulfill({ status: 500, json: { code: 'internal', message: 'Something went wrong.' } });
  });
  await chat.message.fill('Hi');
  await chat.message.press('Enter');
  await expect(chat.answers.last()).toContainText('Hi');
  await expect(chat.questions).toHaveText([/Hello/, /Hi/]);
  await expect(chat.message).toHaveValue('High five');
  await chat.open(path);
  await expect(chat.message).toHaveValue('High five');
});

test('Stop works between Regenerate and the first event', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Second' }, { gate: 'never' }] });
  await upstream.script({ steps: [{ text: 'First' }], times: 1 });
  await chat.open();
  await chat.begin('Try');
  await chat.done();
  let asked = () => {};
  const held = new Promise<void>((resolve) => (asked = resolve));
  await page.route('**/rpc/regenerate', async (route) => {
    await held;
    await route.continue();
  });
  await chat.answers.getByRole('button', { name: 'Regenerate' }).click();
  await chat.stop.click();
  asked();
  await expect(chat.answers.getByText('Stopped', { exact: true })).toBeVisible();
  await expect(chat.answers).toContainText('2/2');
  await expect(chat.send).toBeVisible();
});

test('Regenerate is disabled during an answer', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'rest' }, { text: ', yes.' }] });
  await upstream.script({ steps: [{ text: 'First' }], times: 1 });
  await chat.open();
  await chat.begin('One');
  await chat.done();
  const again = chat.answers.first().getByRole('button', { name: 'Regenerate' });
  await expect(again).toBeEnabled();
  await chat.say('Two');
  await expect(chat.answers.last()).toContainText('Well');
  await expect(again).toBeDisabled();
  await upstream.open('rest');
  await chat.done();
  await expect(again).toBeEnabled();
});

test('Regenerate uses the selected model despite pending requests', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Fine' }] });
  await chat.open();
  await chat.begin('Try');
  await chat.done();
  await page.route('**/rpc/choose_model', () => {});
  await chat.chooseModel('words');
  await chat.answers.getByRole('button', { name: 'Regenerate' }).click();
  await expect(chat.answers).toContainText('2/2');
  await chat.done();
  expect((await upstream.asked()).at(-1)?.model).toBe('words');
});

test.describe('with touch input', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('Enter inserts a line and the button sends', async ({ chat, page }) => {
    await page.goto('/');
    await expect(chat.model).toHaveText(/./);
    await expect(page.getByRole('button', { name: 'Add files or tools' })).toBeVisible();
    await expect(async () => {
      await chat.message.fill('One');
      await chat.message.press('Enter');
      await page.keyboard.type('Two');
      expect(await chat.message.inputValue()).toBe('One\nTwo');
    }).toPass();
    await chat.send.click();
    await expect(chat.questions).toContainText('One\nTwo', { useInnerText: true });
    await expect(chat.answers).toContainText('One');
  });
});
