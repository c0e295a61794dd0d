/** Tools, and the panel with what they and the model made. */
import { callTool, mcpSettings } from '../mcp.ts';
import { BARS, CHART, TABLE, letter } from '../screen-content.ts';
import { expect } from '../test.ts';
import { answered, type Screen, type Stage } from './screen.ts';

async function proposal({ chat, upstream }: Stage): Promise<void> {
  await upstream.script({ when: { user_contains: 'Write' }, steps: [{ text: `Here it is:\n\n${letter('Dear Ann,\n\nthank you for the map.\n\nYours, Bob')}` }] });
  await chat.open();
  await chat.begin('Write a letter');
  await chat.done();
  const id = await chat.answers.locator('.payload[data-payload]').getAttribute('data-payload');
  await chat.page.getByRole('button', { name: 'Close the panel' }).click();
  await upstream.script({ when: { user_contains: 'warmer' }, steps: [{ text: `Changed.\n\n${letter('Dear Ann,\n\nthank you so much for the beautiful map.\n\nYours, Bob', id!)}` }] });
  await chat.say('A little warmer');
  await chat.done();
  await expect(chat.answers.last().getByRole('insertion')).toBeVisible();
}

export const TOOL_SCREENS: Screen[] = [
  {
    name: 'tools',
    prepare: async ({ chat, upstream }) => {
      const clock = (id: string, zone: string) => ({ tool_call: { id, name: 'current_time', arguments: JSON.stringify({ time_zone: zone }) } });
      await upstream.script({ steps: [{ think: 'I need a clock.' }, clock('call_1', 'Asia/Tokyo'), clock('call_2', 'Mars/Olympus')] });
      await upstream.script({ when: { tool_gave: 'no time zone' }, steps: [{ text: 'It is late in Tokyo. Mars has no zones.' }] });
      await chat.open();
      await chat.begin('What time is it?');
      await chat.done();
      await chat.answers.locator('.tool summary').first().click();
    },
  },
  {
    name: 'approval',
    settings: () => mcpSettings('ask'),
    prepare: async ({ chat, upstream }) => {
      await upstream.script(callTool('desk_echo', 'A text that the tool gets'));
      await chat.open();
      await chat.begin('Try it');
      await expect(chat.answers.getByRole('group', { name: 'Allow this?' })).toBeVisible();
    },
  },
  {
    name: 'denied',
    settings: () => mcpSettings('ask'),
    prepare: async ({ chat, upstream }) => {
      await upstream.script({ steps: [{ text: 'As you like.' }] });
      await upstream.script(callTool('desk_echo', 'A text that the tool gets'));
      await upstream.script({ when: { tool_gave: '' }, steps: [{ text: 'So be it.' }] });
      await chat.open();
      await chat.begin('Try it');
      await chat.answers.getByRole('button', { name: 'Deny' }).click();
      await chat.done();
    },
  },
  {
    name: 'inline-chart-and-table',
    prepare: async (stage) => {
      await answered(stage, 'Compare', { text: `The week in numbers:\n\n${CHART}\n\nAnd all ports:\n\n${TABLE}\n\nAsk for more.` });
      await expect(stage.chat.answers.getByRole('cell', { name: 'Port 5' })).toBeVisible();
      await expect(stage.chat.answers.getByRole('img', { name: /^Chart/ })).toBeVisible();
    },
  },
  {
    name: 'inline-bars',
    prepare: async (stage) => {
      await answered(stage, 'Compare', { text: `Here:\n\n${BARS}\n\nAsk for more.` });
      await stage.chat.answers.getByRole('slider').focus();
      await stage.page.keyboard.press('ArrowRight');
      await expect(stage.chat.answers.locator('.chart-values')).toBeVisible();
    },
  },
  {
    name: 'panel-table',
    prepare: async (stage) => {
      await answered(stage, 'Compare', { text: `All ports:\n\n${TABLE}\n\nAsk for more.` });
      await stage.chat.answers.getByRole('button', { name: /^Open/ }).click();
      await expect(stage.page.locator('#panel').getByRole('row')).toHaveCount(25);
    },
  },
  {
    name: 'panel-chart',
    prepare: async (stage) => {
      await answered(stage, 'Compare', { text: `The week:\n\n${CHART}\n\nAsk for more.` });
      await stage.chat.answers.getByRole('button', { name: /^Open/ }).click();
      await expect(stage.page.locator('#panel').getByRole('img', { name: /^Chart/ })).toBeVisible();
    },
  },
  { name: 'proposal', prepare: proposal },
  {
    name: 'panel-proposal',
    prepare: async (stage) => {
      await proposal(stage);
      await stage.chat.answers.last().getByRole('button', { name: /^Open/ }).click();
      await expect(stage.page.locator('#panel').getByRole('insertion')).toBeVisible();
    },
  },
];
