/** A deleted conversation disappears from open tabs, from reconnecting ones, from the log and from the files. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStream } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

const secret = 'Rumpelstilzchen';

/** All events of the log from its beginning. */
async function readLog(url: string): Promise<string> {
  const last = await (await EventStream.chat(url, { message: 'The last' })).rest();
  const log = await EventStream.everything(url);
  const events = [];
  for (let event; (event = await log.next()); ) {
    events.push(event);
    if (event.position === last.at(-1)!.position) break;
  }
  log.close();
  return JSON.stringify(events);
}

test.use({ settings: '[timeouts]\nundo = "0s"' });

test('deleting a running conversation removes it from every tab', async ({ browserLog, chat, line, newTab, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  browserLog.allow(/status of 404/);
  await upstream.script({ when: { user_contains: secret }, steps: [{ think: secret }, { text: `It is ${secret}` }, { gate: 'more' }, { text: ` and ${secret}.` }] });
  const program = await EventStream.chat(parlor.url, { message: `Who is ${secret}?` });
  const { conversation_id, message_id } = await program.until('text_delta');
  const path = `/c/${conversation_id}`;
  const [watching, cutOff] = [await newTab(), await newTab()];
  await chat.open();
  await watching.open(path);
  await cutOff.open(line.url + path);
  for (const tab of [watching, cutOff]) await expect(tab.answers).toContainText(`It is ${secret}`);
  await watching.message.fill('not sent yet');
  line.cut();
  await expect(cutOff.page.getByText('Reconnecting…')).toBeVisible();

  await chat.press('Delete', `Who is ${secret}?`);
  await expect(chat.entries).toHaveCount(0);
  const gone = (tab: typeof chat) => tab.page.getByRole('heading', { name: 'This conversation does not exist.' });
  await expect(gone(watching)).toBeVisible();
  await expect(watching.entries).toHaveCount(0);
  expect((await program.rest()).at(-1), 'the program hears that the answer was stopped').toMatchObject({ type: 'cancelled' });
  // Further output of the model is dropped.
  await upstream.open('more');
  await expect(cutOff.answers, 'nobody could tell it').toContainText(secret);
  line.mend();
  await expect(gone(cutOff)).toBeVisible();
  await expect(cutOff.entries).toHaveCount(0);
  for (const tab of [chat, watching, cutOff]) {
    await expect(tab.problem).toHaveCount(0);
    if (tab !== chat) await expect(tab.page.locator('.toast')).toHaveCount(0);
    expect(await tab.page.locator('body').innerText()).not.toContain(secret);
  }
  for (const url of [path, `/api/messages/${message_id}`]) expect((await page.request.get(url)).status()).toBe(404);

  expect(await readLog(parlor.url)).not.toContain(secret);
  // A shutdown that runs out of time leaves the checkpoint of the WAL to the next one.
  await expect(async () => {
    await parlor.restart();
    await parlor.stop();
    for (const entry of await readdir(parlor.data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      expect((await readFile(file)).includes(secret), file).toBe(false);
    }
  }).toPass();
});

test('deleting in two tabs at once causes no error', async ({ chat, newTab, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'Going' }, steps: [{ text: 'On and on' }, { gate: 'never' }] });
  await chat.open();
  const path = await chat.begin('Going on');
  await expect(chat.answers).toContainText('On and on');
  const other = await newTab();
  await other.open(path);
  for (const tab of [chat, other]) {
    await tab.list.locator('.item').hover();
    await tab.actions('Going on').click();
  }
  // The menu may be outdated when its item is pressed.
  await Promise.all([chat, other].map((tab) => tab.list.getByRole('menuitem', { name: 'Delete' }).click({ timeout: 5000 })));
  for (const tab of [chat, other]) {
    await expect(tab.entries).toHaveCount(0);
    await expect(tab.title).toHaveText(/New chat|Not found/);
    for (const toast of await tab.page.locator('.toast').allTextContents()) expect(toast).toContain('Chat deleted.');
  }
  expect((await readLog(parlor.url)).match(/"conversation_deleted"/g)).toHaveLength(1);
});

test('a draft moves to a new chat when its conversation is deleted', async ({ chat, newTab }) => {
  await chat.open();
  const path = await chat.begin('Hello');
  await chat.done();
  await chat.message.fill('Half a thought');
  const other = await newTab();
  await other.open(path);
  await other.press('Delete', 'Hello');
  await expect(chat.page.getByRole('heading', { name: 'This conversation does not exist.' })).toBeVisible();
  await chat.page.getByRole('link', { name: 'Start a new chat' }).click();
  await expect(chat.message).toHaveValue('Half a thought');
  await chat.say('Half a thought');
  await chat.done();
});
