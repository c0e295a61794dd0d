/** Races between a stop and other events. */
import { EventStream, textOf } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

const endless = (text: string) => [{ text }, { gate: 'never' }];

test('Stop clicked while done event processing', async ({ chat, upstream }) => {
  await chat.open();
  for (let n = 0; n < 8; n++) {
    await upstream.script({ when: { user_contains: `number ${n}.` }, steps: [{ text: 'Nearly' }, { gate: `end-${n}` }, { text: ' done.' }] });
    await chat.say(`number ${n}.`);
    const answer = chat.answers.nth(n);
    await expect(answer).toContainText('Nearly');
    // In either order the run ends once, without an error. The button may disappear before it is pressed.
    await Promise.all([upstream.open(`end-${n}`), chat.stop.click({ timeout: 2000 }).catch(() => {})]);
    await chat.done();
    await expect(chat.problem).toHaveCount(0);
    const ends = (await answer.innerText()).match(/ done\.|Stopped/g);
    expect(ends, 'one end').toHaveLength(1);
  }
  const live = await chat.answers.allInnerTexts();
  await chat.reload();
  expect(await chat.answers.allInnerTexts()).toEqual(live);
});

test('User switches conversations during streaming', async ({ chat, upstream }) => {
  await upstream.script({ when: { user_contains: 'streaming' }, steps: endless('On and on') });
  await upstream.script({ when: { user_contains: 'quiet' }, steps: [{ text: 'Done.' }] });
  await chat.open();
  await chat.begin('quiet');
  await chat.done();
  await chat.newChat.click();
  await chat.begin('streaming');
  await expect(chat.stop).toBeVisible();
  await chat.entry('quiet').click();
  await expect(chat.answers).toContainText('Done.');
  await expect(chat.stop, 'this conversation is not being answered').toBeHidden();
  await chat.entry('streaming').click();
  await expect(chat.stop).toBeVisible();
  await chat.stop.click();
  await expect(chat.answers).toContainText('Stopped');
});

test('Rapid stop/send clicks', async ({ chat, upstream }) => {
  await upstream.script({ when: { user_contains: 'first' }, steps: endless('On and on') });
  await upstream.script({ when: { user_contains: 'second' }, steps: [{ text: 'The second answer.' }] });
  await chat.open();
  await chat.begin('first');
  await expect(chat.answers).toContainText('On and on');
  await chat.stop.dblclick();
  await chat.say('second');
  await expect(chat.answers.last()).toContainText('The second answer.');
  await chat.done();
  await expect(chat.questions).toHaveCount(2);
  await expect(chat.answers).toHaveCount(2);
  await expect(chat.answers.first()).toContainText('Stopped');
});

test('Stream naturally completes', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Nearly' }, { gate: 'end' }, { text: ' done.' }] });
  await chat.open();
  await chat.begin('Go');
  await expect(chat.stop).toBeVisible();
  await upstream.open('end');
  await expect(chat.stop).toBeHidden();
  await expect(chat.send).toBeVisible();
});

test('Multiple conversations streaming in background', async ({ chat, upstream }) => {
  for (const name of ['red', 'blue']) await upstream.script({ when: { user_contains: name }, steps: endless(`On about ${name}`) });
  await chat.open();
  for (const name of ['red', 'blue']) {
    await chat.newChat.click();
    await chat.begin(name);
    await expect(chat.answers).toContainText(`On about ${name}`);
  }
  await chat.stop.click();
  await expect(chat.answers).toContainText('Stopped');
  await expect(chat.list.getByRole('listitem').filter({ hasText: 'red' })).toContainText('is answering');
  await chat.entry('red').click();
  await expect(chat.stop, 'only the visible one was stopped').toBeVisible();
});

test('stopping in two tabs at once has one outcome', async ({ chat, newTab, upstream }) => {
  await upstream.script({ steps: endless('On and on') });
  await chat.open();
  const path = await chat.begin('Go');
  await expect(chat.answers).toContainText('On and on');
  const other = await newTab();
  await other.open(path);
  await Promise.all([chat.stop.click(), other.stop.click({ timeout: 2000 }).catch(() => {})]);
  for (const tab of [chat, other]) {
    await expect(tab.answers).toContainText('Stopped');
    await expect(tab.send).toBeVisible();
    await expect(tab.problem).toHaveCount(0);
  }
});

// The rest of the answer takes longer than any timeout here. `make bench` measures how fast a stop is.
// Numbered, since a repetitive answer is ended.
const many = (text: string) => Array.from({ length: 4000 }, (_, n) => `${text} ${n} `).join('');
const going = (text: string) => [{ stream: { text: many(text), per_second: 200 } }];

for (const [when, steps, begun] of [
  ['before the first token', [{ gate: 'first' }, ...going('Too late')], undefined],
  ['while it thinks', [{ stream_thinking: { text: many('Hm.'), per_second: 200 } }], 'Hm.'],
  ['in mid-text', going('On and on'), 'On and on'],
  ['in the middle of a block of code', [{ text: '```rust\n' }, ...going('let a = 1;')], 'let a = 1;'],
] as const) {
  for (const where of ['this', 'another'] as const) {
    test(`stopping ${when} in ${where} tab keeps exactly the received text`, async ({ chat, newTab, parlor, upstream }) => {
      await upstream.script({ steps: [...steps] });
      const events = await EventStream.chat(parlor.url, { message: 'Go' });
      const { conversation_id, message_id } = await events.until('run_started');
      await chat.open(`/c/${conversation_id}`);
      const other = await newTab();
      await other.open(`/c/${conversation_id}`);
      if (begun) for (const tab of [chat, other]) await expect(tab.answers).toContainText(begun);
      else await upstream.reached('first');
      await (where === 'this' ? chat : other).stop.click();
      for (const tab of [chat, other]) {
        await expect(tab.answers).toContainText('Stopped');
        await expect(tab.send).toBeVisible();
        await expect(tab.problem).toHaveCount(0);
      }
      if (!begun) await upstream.open('first');

      const log = await events.rest();
      expect(log.at(-1)!.type).toBe('cancelled');
      const { message } = await (await fetch(`${parlor.url}/api/messages/${message_id}`)).json();
      const parts = message.nodes.flatMap((node: any) => node.parts) as { type: string; text: string }[];
      const kept = (type: string) => parts.filter((part) => part.type === type).map(({ text }) => text).join('');
      expect([kept('text'), kept('thinking')], 'what was told is what is kept').toEqual([textOf(log), textOf(log, 'thinking')]);
      const live = await chat.answers.innerText();
      expect(await other.answers.innerText()).toBe(live);
      await chat.reload();
      expect(await chat.answers.innerText(), 'and what was on the screen').toBe(live);
      await expect(chat.answers).not.toContainText('Too late');
    });
  }
}

test('repeated stops at the end produce one end', async ({ chat, newTab, parlor, upstream }) => {
  await chat.open();
  const path = await chat.begin('Hello');
  await chat.done();
  const other = await newTab();
  await other.open(path);
  for (let n = 0; n < 5; n++) {
    await upstream.script({ when: { user_contains: `number ${n}.` }, steps: [{ text: 'Nearly' }, { gate: `end-${n}` }, { text: ' done.' }] });
    await chat.say(`number ${n}.`);
    for (const tab of [chat, other]) await expect(tab.answers.last()).toContainText('Nearly');
    const press = (tab: Chat) => tab.stop.dblclick({ timeout: 2000 }).catch(() => {});
    await Promise.all([upstream.open(`end-${n}`), press(chat), press(other)]);
    for (const tab of [chat, other]) {
      await tab.done();
      await expect(tab.problem).toHaveCount(0);
    }
    const ends = await Promise.all([chat, other].map((tab) => tab.answers.last().innerText()));
    expect(ends[1], 'the same in both').toBe(ends[0]);
    // A stop between the last word and the end leaves both.
    const id = await chat.answers.last().getAttribute('id');
    const { message } = await (await fetch(`${parlor.url}/api/messages/${id}`)).json();
    expect(ends[0].match(/Stopped/g) ?? [], 'one end, the one that it has').toHaveLength(message.status === 'stopped' ? 1 : 0);
    if (message.status !== 'stopped') expect(ends[0]).toContain(' done.');
  }
});
