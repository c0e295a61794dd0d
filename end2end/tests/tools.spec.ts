import { expect, test } from '../support/test.ts';

const asksForTheTime = (time_zone: string) => ({
  tool_call: { id: 'call_1', name: 'current_time', arguments: JSON.stringify({ time_zone }) },
});

test('a tool call has its card in its place, live and after a reload alike', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Let me see.' }, asksForTheTime('Asia/Tokyo')] });
  await upstream.script({
    when: { tool_gave: 'UTC+09:00' },
    steps: [{ gate: 'rest' }, { text: 'It is **late** in Tokyo.' }],
  });
  await chat.open();
  await chat.begin('What time is it in Tokyo?');
  const card = chat.answers.locator('.tool');
  await expect(card.locator('summary')).toContainText('Looked at the clock');
  await expect(card.locator('summary')).toContainText('Asia/Tokyo');
  await expect(card.locator('summary')).toContainText(/\d+\.\d s/);
  await upstream.open('rest');
  await chat.done();

  const all = async () => {
    await expect(card.getByText('Asked')).toBeHidden();
    await card.locator('summary').click();
    await expect(card.locator('pre').first()).toHaveText('{\n  "time_zone": "Asia/Tokyo"\n}');
    await expect(card.locator('pre').last()).toHaveText(/^\w+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d JST \(UTC\+09:00\)$/);
    return await chat.answers.innerText();
  };
  const live = await all();
  expect(live.indexOf('Let me see.')).toBeLessThan(live.indexOf('Looked at the clock'));
  expect(live.indexOf('Looked at the clock')).toBeLessThan(live.indexOf('It is late in Tokyo.'));
  await chat.reload();
  expect(await all()).toBe(live);
});

test('a tool that fails says so in its card, and the answer goes on', async ({ chat, upstream }) => {
  await upstream.script({ steps: [asksForTheTime('Mars/Olympus')] });
  await upstream.script({ when: { tool_gave: 'no time zone' }, steps: [{ text: 'There is no such place.' }] });
  await chat.open();
  await chat.begin('What time is it on Mars?');
  await chat.done();
  const card = chat.answers.locator('.tool');
  await expect(card.getByText('There is no time zone “Mars/Olympus”')).toBeVisible();
  await expect(card.getByText('Failed:')).toBeAttached();
  await expect(chat.answers.getByText('There is no such place.')).toBeVisible();
});
