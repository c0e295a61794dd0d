import { EventStream } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

test.use({ javaScriptEnabled: false });

test('a conversation can be read, and its address is enough', async ({ chat, page, parlor, request, upstream }) => {
  await upstream.script({ steps: [{ think: 'A thought.' }, { text: 'An **answer**.' }] });
  const events = await (await EventStream.chat(parlor.url, { message: 'A <question>' })).rest();
  const path = `/c/${events[0]!.conversation_id}`;

  const html = await (await request.get(path)).text();
  expect(html).toContain('A &lt;question&gt;');
  expect(html).toContain('<strong>answer');

  await page.goto(path);
  await expect(chat.title).toHaveText('A <question>');
  await expect(chat.questions).toContainText('A <question>');
  await expect(chat.answers).toContainText('An answer.');
  await expect(chat.entry('A <question>')).toBeVisible();
  await chat.answers.getByText('Show details').click();
  await expect(chat.answers.getByText('A thought.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Regenerate' }), 'nothing is there that does nothing').toBeHidden();
});

test('messages can be sent with the form, and are answered', async ({ chat, page, parlor, upstream }) => {
  const log = await EventStream.everything(parlor.url);
  await page.goto('/');
  await chat.model.selectOption('echo');
  await chat.message.fill('First');
  await chat.send.click();
  await expect(page).toHaveURL(/\/c\//);
  await expect(chat.questions).toContainText('First');
  await log.until('complete');
  await page.reload();
  await expect(chat.answers).toContainText('First');
  const path = chat.path;

  await chat.message.fill('Second');
  await chat.send.click();
  await log.until('complete');
  await page.reload();
  expect(chat.path).toBe(path);
  await expect(chat.questions).toHaveText([/First/, /Second/]);
  await expect(chat.answers).toHaveText([/First/, /Second/]);
  expect((await upstream.asked()).map(({ model }) => model)).toEqual(['echo', 'echo']);
  log.close();
});
