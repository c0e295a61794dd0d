/** Damaged rows are shown as damaged, and everything else works. */
import { damage, damagePage } from '../support/damage.ts';
import { EventStream } from '../support/events.ts';
import { Requests } from '../support/requests.ts';
import { expect, test } from '../support/test.ts';

test('damaged messages are shown as damaged', async ({ browserLog, chat, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  await upstream.script({ when: { user_contains: 'first' }, steps: [{ text: 'A broken answer.' }] });
  await upstream.script({ when: { user_contains: 'second' }, steps: [{ text: 'A whole answer.' }] });
  await chat.open();
  await chat.begin('The first question');
  await chat.done();
  // The title has the same words, but is not JSON.
  await damage(parlor, '"text":"The first question"');
  await damage(parlor, '"text":"A broken answer."');
  await chat.reload();
  await expect(chat.questions).toHaveText(/This message is damaged and can't be shown\. Id [0-9a-f-]{36}/);
  await expect(chat.problem).toContainText(/This message is damaged and can't be shown\. Id [0-9a-f-]{36}/);
  await chat.say('The second question');
  await chat.done();
  await expect(chat.answers.last()).toContainText('A whole answer.');
  await chat.press('Delete', 'The first question');
  await expect(chat.entries).toHaveCount(0);
});

test('a damaged event is reported once and skipped', async ({ browserLog, chat, line, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  await upstream.script({ steps: [{ text: 'Of course.' }] });
  await chat.open(line.url);
  await chat.begin('Before');
  await chat.done();
  line.cut();
  const elsewhere = { message: 'Elsewhere', model: 'openai/echo' };
  await (await EventStream.chat(parlor.url, elsewhere)).rest();
  await damage(parlor, '"title":"Elsewhere"');
  const requests = new Requests(page);
  line.mend();
  await expect(page.getByText(/A change is damaged and can’t be shown\. Id \d+/)).toBeVisible();
  await expect(chat.titles).toHaveText(['Elsewhere', 'Before']);
  await expect(page.getByText('Reconnecting…')).toHaveCount(0);
  await chat.say('After');
  await chat.done();
  await expect(chat.answers).toHaveCount(2);
  expect(requests.made('/rpc/conversations'), 'it was loaded again once').toBe(1);
});

test('a damaged log costs only live updates', async ({ browserLog, chat, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  await upstream.script({ steps: [{ text: 'Of course.' }] });
  await chat.open();
  await chat.begin('Before');
  await chat.done();
  await damagePage(parlor, '"title":"Before"');
  await expect(page.getByRole('status').getByText('No live updates: reload to see changes')).toBeVisible();
  await chat.reload();
  await expect(chat.questions).toContainText('Before');
  await expect(chat.answers).toContainText('Of course.');
});
