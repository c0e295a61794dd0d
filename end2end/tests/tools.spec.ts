import { callTool, mcpSettings } from '../support/mcp.ts';
import { expect, test } from '../support/test.ts';

const asksForTheTime = (time_zone: string) => ({
  tool_call: { id: 'call_1', name: 'current_time', arguments: JSON.stringify({ time_zone }) },
});

test('a tool card looks the same live and reloaded', async ({ chat, upstream }) => {
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
  await expect(card.locator('summary')).not.toContainText('0.0 s');
  await upstream.open('rest');
  await chat.done();

  const all = async () => {
    await expect(card.getByText('Asked')).toBeHidden();
    await card.locator('summary').click();
    await expect(card.getByRole('term')).toHaveText('Time zone');
    await expect(card.getByRole('definition')).toHaveText('Asia/Tokyo');
    await expect(card.locator('pre')).toHaveText(/^\w+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d JST \(UTC\+09:00\)$/);
    return await chat.answers.innerText();
  };
  const live = await all();
  expect(live.indexOf('Let me see.')).toBeLessThan(live.indexOf('Looked at the clock'));
  expect(live.indexOf('Looked at the clock')).toBeLessThan(live.indexOf('It is late in Tokyo.'));
  await chat.reload();
  expect(await all()).toBe(live);
});

test('the trace shows activity, then duration and tools', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ think: 'Where is the clock?' }, asksForTheTime('Asia/Tokyo')] });
  await upstream.script({
    when: { tool_gave: 'UTC+09:00' },
    steps: [{ gate: 'again' }, { think: '**Now I know.**' }, { gate: 'rest' }, { text: 'It is late.' }],
  });
  await chat.open();
  await chat.begin('What time is it in Tokyo?');
  const trace = chat.answers.locator('.trace');
  const line = trace.locator('summary').first();
  await upstream.reached('again');
  // The line is all that shows that the model is thinking.
  await expect(line).toContainText('Thinking…');
  await expect(chat.answers.locator('.activity')).toHaveCount(0);
  await upstream.open('again');
  await expect(line).toContainText('ThinkingNow I know.');
  await upstream.open('rest');
  await chat.done();

  const all = async () => {
    await expect(line).toHaveText(/^Worked( for \d+(\.\d)? s)? · 3 stepsLooked at the clock · Show details$/);
    await expect(trace.getByText('Where is the clock?')).toBeHidden();
    await line.click();
    await expect(trace.locator('.trace-steps > *')).toHaveText([
      'Where is the clock?',
      /^Looked at the clock/,
      'Now I know.',
    ]);
    await expect(chat.answers.getByText('Looked at the clock').filter({ visible: true })).toHaveCount(1);
    return await chat.answers.innerText();
  };
  const live = await all();
  await chat.reload();
  expect(await all()).toBe(live);
});

test('a failed tool says so and the answer continues', async ({ chat, upstream }) => {
  await upstream.script({ steps: [asksForTheTime('Mars/Olympus')] });
  await upstream.script({ when: { tool_gave: 'no time zone' }, steps: [{ text: 'There is no such place.' }] });
  await chat.open();
  await chat.begin('What time is it on Mars?');
  await chat.done();
  const card = chat.answers.locator('.tool');
  await expect(card.getByText('There is no time zone “Mars/Olympus”')).toBeVisible();
  await expect(card.locator('summary')).toContainText('Looking at the clock failed');
  await card.locator('summary').click();
  await expect(card.getByRole('heading', { name: 'Error' })).toBeVisible();
  await expect(card.getByText('There is no time zone “Mars/Olympus”').filter({ visible: true })).toHaveCount(1);
  await expect(chat.answers.getByText('There is no such place.')).toBeVisible();
});

test('a suggested value is sent with one click, once', async ({ chat, upstream }) => {
  const values = JSON.stringify([
    { label: 'Yes', value: 'Yes, please go on' },
    { label: 'No', value: 'No, thanks' },
  ]);
  await upstream.script({ steps: [{ text: 'I see.' }] });
  await upstream.script({
    when: { user_contains: 'Shall' },
    steps: [{ text: 'Shall I go on?\n\nSUGGESTED_' }, { gate: 'rest' }, { text: `VALUES: ${values}` }],
  });
  await chat.open();
  await chat.begin('Shall you?');
  await expect(chat.answers.getByText('Shall I go on?', { exact: true })).toBeVisible();
  await upstream.open('rest');
  const chips = chat.page.getByRole('group', { name: 'Suggestions' }).getByRole('button');
  await expect(chips).toHaveText(['Yes', 'No']);
  await expect(chat.answers).not.toContainText('SUGGESTED');
  await chat.reload();
  await chips.first().click();
  await expect(chat.questions).toHaveText([/Shall you\?/, /Yes, please go on/]);
  await chat.done();
  await expect(chips).toHaveCount(0);
  await chat.reload();
  await expect(chat.questions).toHaveCount(2);
  await expect(chips).toHaveCount(0);
});

test.describe('sources', () => {
  test.use({ settings: mcpSettings('never') });

  test('lists only sources that a tool returned', async ({ chat, upstream }) => {
    const sources = [
      { title: 'Made up', url: 'https://made.up/' },
      { title: 'A page', url: 'https://example.org/a' },
    ];
    await upstream.script(callTool('desk_echo', 'See https://example.org/a'));
    await upstream.script({
      when: { tool_gave: 'example.org' },
      steps: [{ text: 'It is so [2], `not` so [1] [7].\n\n<!-- META' }, { text: `DATA:\n${JSON.stringify({ sources })}\n-->` }],
    });
    await chat.open();
    await chat.begin('Is it so?');
    await chat.done();
    for (const look of ['live', 'after a reload']) {
      if (look !== 'live') await chat.reload();
      await chat.answers.getByText('1 source').click();
      const links = chat.answers.locator('.sources').getByRole('link');
      await expect(links, look).toHaveText(['A page']);
      const prose = chat.answers.locator('.prose').last();
      await expect(prose).toHaveText('It is so [2], not so [1] [7].');
      const cited = prose.getByRole('link');
      await expect(cited, 'only sources of tools').toHaveText(['[2]']);
      await expect(cited).toHaveAttribute('href', 'https://example.org/a');
      await expect(links).toHaveAttribute('href', 'https://example.org/a');
      await expect(links).toHaveAttribute('rel', 'noopener noreferrer nofollow');
      await expect(chat.answers).not.toContainText('METADATA');
    }
  });
});
