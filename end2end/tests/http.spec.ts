import { EventStream, textOf } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

test('an open page shows API requests at once', async ({ chat, parlor, upstream }) => {
  await upstream.script({ steps: [{ text: 'From' }, { gate: 'rest' }, { text: ' afar.' }] });
  await chat.open();
  const stream = await EventStream.chat(parlor.url, { message: 'Sent by a program' });
  const saved = await stream.until('user_message_saved');
  await chat.entry('Sent by a program').click();
  await expect(chat.page).toHaveURL(`/c/${saved.conversation_id}`);
  await expect(chat.questions).toContainText('Sent by a program');
  await expect(chat.answers.getByText('From', { exact: true })).toBeVisible();
  await upstream.open('rest');
  await expect(chat.answers.getByText('From afar.', { exact: true })).toBeVisible();
  expect(textOf(await stream.rest())).toBe('From afar.');

  await EventStream.chat(parlor.url, { message: 'And once more', conversation_id: saved.conversation_id });
  await expect(chat.questions).toHaveText([/Sent by a program/, /And once more/]);
});

test('actions on the page appear in the event log', async ({ chat, parlor, upstream }) => {
  await upstream.script({ steps: [{ think: 'Hm.' }, { text: 'From here.' }] });
  const log = await EventStream.everything(parlor.url);
  await chat.open();
  const path = await chat.begin('Sent by a person');
  const conversation_id = path.slice('/c/'.length);
  expect(await log.until('user_message_saved')).toMatchObject({ conversation_id, text: 'Sent by a person' });
  expect(await log.until('thinking')).toMatchObject({ text: 'Hm.' });
  expect(await log.until('text_delta')).toMatchObject({ text: 'From here.' });
  await log.until('complete');
  await chat.beginRenaming('Sent by a person');
  await chat.page.keyboard.type('By hand');
  await chat.page.keyboard.press('Enter');
  expect(await log.until('conversation_renamed')).toMatchObject({ conversation_id, title: 'By hand' });
  await chat.press('Delete', 'By hand');
  expect(await log.until('conversation_deleted')).toMatchObject({ conversation_id });
  log.close();
});
