/** Races between a stop and other events. */
import type { Chat } from '../support/chat.ts';
import { EventStream, textOf } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

/** Presses *Stop* a number of frames from now, if it is still there by then. */
function pressStop(tab: Chat, { frames = 0, times = 1 }): Promise<void> {
  return tab.page.evaluate(async ({ frames, times }) => {
    for (let frame = 0; frame < frames; frame++) await new Promise(requestAnimationFrame);
    const button = document.querySelector<HTMLElement>('button[aria-label="Stop"]');
    for (let press = 0; press < times; press++) button?.click();
  }, { frames, times });
}

/** Checks that the last answer shows one end, the one that is stored. A stop between the last word and the end leaves both. */
async function expectOneEnd(tab: Chat, url: string): Promise<void> {
  const answer = tab.answers.last();
  const id = await answer.getAttribute('id');
  const { message } = await (await fetch(`${url}/api/messages/${id}`)).json();
  const shown = await answer.innerText();
  expect(shown.match(/Stopped/g) ?? [], shown).toHaveLength(message.status === 'stopped' ? 1 : 0);
  if (message.status !== 'stopped') expect(shown).toContain(' done.');
}

const endless = (text: string) => [{ text }, { gate: 'never' }];

test('Stop clicked while done event processing', async ({ chat, parlor, upstream }) => {
  await chat.open();
  for (let n = 0; n < 8; n++) {
    await upstream.script({ when: { user_contains: `number ${n}.` }, steps: [{ text: 'Nearly' }, { gate: `end-${n}` }, { text: ' done.' }] });
    await chat.say(`number ${n}.`);
    const answer = chat.answers.nth(n);
    await expect(answer).toContainText('Nearly');
    // In either order the run ends once, without an error. The button may disappear before it is pressed.
    await Promise.all([upstream.open(`end-${n}`), pressStop(chat, { frames: n })]);
    await chat.done();
    await expect(chat.problem).toHaveCount(0);
    await expectOneEnd(chat, parlor.url);
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
  await chat.message.fill('second');
  await chat.message.press('Enter');
  // The server may get the message before the stop, which then holds it in the queue.
  const held = chat.page.getByRole('region', { name: 'Queued messages' }).getByRole('button', { name: 'Send now' });
  const sent = chat.questions.filter({ hasText: 'second' });
  await expect(held.or(sent)).toBeVisible();
  if (await held.isVisible()) await held.click();
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
  await Promise.all([chat.stop.click(), pressStop(other, { frames: 4 })]);
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

/** Where an answer is stopped: the steps of its model, and what of it is shown by then. */
const places = [
  { when: 'before the first token', steps: [{ gate: 'first' }, ...going('Too late')] },
  { when: 'while it thinks', steps: [{ stream_thinking: { text: many('Hm.'), per_second: 200 } }], begun: 'Hm.' },
  { when: 'in mid-text', steps: [{ text: 'Here' }, { gate: 'more' }, ...going(' and on')], begun: 'Here', follows: 'and on 1' },
  { when: 'in the middle of a block of code', steps: [{ text: '```rust\n' }, ...going('let a = 1;')], begun: 'let a = 1;' },
];

test('stopping anywhere in either tab keeps exactly the received text', async ({ chat, newTab, parlor, upstream }) => {
  test.slow();
  const other = await newTab();
  const tabs = [chat, other];
  for (const tab of tabs) await tab.open();
  const stopped: { path: string; live: string }[] = [];
  for (const [index, { when, steps, begun, follows }] of places.entries()) {
    for (const where of ['this', 'another']) {
      await test.step(`stopping ${when} in ${where} tab keeps exactly the received text`, async () => {
        const name = `Stop ${where} ${index}.`;
        const gated = steps.map((step) => ('gate' in step ? { gate: `${step.gate} ${name}` } : step));
        await upstream.script({ when: { user_contains: name }, steps: gated });
        const events = await EventStream.chat(parlor.url, { message: name });
        const { conversation_id, message_id } = await events.until('run_started');
        for (const tab of tabs) await tab.entry(name).click();
        for (const tab of tabs) await expect(tab.questions).toHaveText([new RegExp(name)]);
        if (begun) for (const tab of tabs) await expect(tab.answers).toContainText(begun);
        else await upstream.reached(`first ${name}`);
        if (follows) {
          await upstream.open(`more ${name}`);
          for (const tab of tabs) await expect(tab.answers, 'both tabs follow live').toContainText(follows);
        }
        await (where === 'this' ? chat : other).stop.click();
        for (const tab of tabs) {
          await expect(tab.answers.getByText('Stopped', { exact: true })).toBeVisible();
          await expect(tab.send).toBeVisible();
          await expect(tab.problem).toHaveCount(0);
        }
        if (!begun) await upstream.open(`first ${name}`);

        const log = await events.rest();
        expect(log.at(-1)!.type, 'the stream ends with it').toBe('cancelled');
        const { message } = await (await fetch(`${parlor.url}/api/messages/${message_id}`)).json();
        const parts = message.nodes.flatMap((node: any) => node.parts) as { type: string; text: string }[];
        const kept = (type: string) => parts.filter((part) => part.type === type).map(({ text }) => text).join('');
        expect([kept('text'), kept('thinking')], 'what was told is what is kept').toEqual([textOf(log), textOf(log, 'thinking')]);
        const live = await chat.answers.innerText();
        expect(await other.answers.innerText()).toBe(live);
        stopped.push({ path: `/c/${conversation_id}`, live });
      });
    }
  }
  for (const { path, live } of stopped) {
    await chat.open(path);
    expect(await chat.answers.innerText(), 'and what was on the screen').toBe(live);
    await expect(chat.answers).not.toContainText('Too late');
  }
  await test.step('the next question is answered', async () => {
    await chat.open(stopped[0]!.path);
    await chat.say('Something else');
    await expect(chat.answers.last().getByText('Something else', { exact: true })).toBeVisible();
    await expect(chat.messages).not.toContainText('Too late');
  });
});

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
    const press = (tab: Chat) => pressStop(tab, { frames: 2 * n, times: 2 });
    await Promise.all([upstream.open(`end-${n}`), press(chat), press(other)]);
    for (const tab of [chat, other]) {
      await tab.done();
      await expect(tab.problem).toHaveCount(0);
    }
    const ends = await Promise.all([chat, other].map((tab) => tab.answers.last().innerText()));
    expect(ends[1], 'the same in both').toBe(ends[0]);
    await expectOneEnd(chat, parlor.url);
  }
});
