/** Tools, and the panel with what they and the model made. */
import { letter, proposeVersion } from '../letter.ts';
import { callTool, mcpSettings } from '../mcp.ts';
import { BARS, CHART, TABLE } from '../screen-content.ts';
import { expect } from '../test.ts';
import { answered, type ScreenGroup, type Stage } from './screen.ts';

const openInPanel = ({ chat }: Stage, title: string) => chat.answers.getByRole('button', { name: new RegExp(`^Open: .*${title}`) }).click();

export const TOOL_SCREENS: ScreenGroup[] = [
  {
    screens: [
      {
        name: 'tools',
        prepare: async ({ chat, upstream }) => {
          const clock = (id: string, zone: string) => ({ tool_call: { id, name: 'current_time', arguments: JSON.stringify({ time_zone: zone }) } });
          await upstream.script({ steps: [{ think: 'I need a clock.' }, clock('call_1', 'Asia/Tokyo'), clock('call_2', 'Mars/Olympus')] });
          await upstream.script({ when: { tool_gave: 'no time zone' }, steps: [{ text: 'It is late in Tokyo. Mars has no zones.' }] });
          await chat.open();
          await chat.begin('What time is it?');
          await chat.done();
          await chat.answers.locator('.trace summary').first().click();
          await chat.answers.locator('.tool summary').first().click();
        },
      },
      {
        name: 'inline-bars',
        prepare: async (stage) => {
          await answered(stage, 'Compare the visitors', { text: `Here:\n\n${BARS}\n\nAsk for more.` });
          await stage.chat.answers.getByRole('slider').focus();
          await stage.page.keyboard.press('ArrowRight');
          await expect(stage.chat.answers.locator('.chart-values')).toBeVisible();
        },
      },
      {
        name: 'inline-chart-and-table',
        prepare: async (stage) => {
          await answered(stage, 'Compare the ports', { text: `The week in numbers:\n\n${CHART}\n\nAnd all ports:\n\n${TABLE}\n\nAsk for more.` });
          await expect(stage.chat.answers.getByRole('cell', { name: 'Port 5' })).toBeVisible();
          await expect(stage.chat.answers.getByRole('img', { name: /^Chart/ })).toBeVisible();
        },
      },
      {
        name: 'panel-table',
        prepare: async (stage) => {
          await openInPanel(stage, 'Ports');
          await expect(stage.page.locator('#panel').getByRole('row')).toHaveCount(25);
        },
      },
      {
        name: 'panel-chart',
        prepare: async (stage) => {
          await openInPanel(stage, 'High water in Hamburg');
          await expect(stage.page.locator('#panel').getByRole('img', { name: /^Chart/ })).toBeVisible();
        },
      },
      {
        name: 'proposal',
        prepare: async (stage) => {
          const { chat, page, upstream } = stage;
          await answered(stage, 'Write a letter', { text: `Here it is:\n\n${letter('Dear Ann,\n\nthank you for the map.\n\nYours, Bob')}` });
          await page.getByRole('button', { name: 'Close the panel' }).click();
          await proposeVersion(chat, upstream, 'A little warmer', 'Dear Ann,\n\nthank you so much for the beautiful map.\n\nYours, Bob');
          await expect(chat.answers.last().getByRole('insertion')).toBeVisible();
        },
      },
      {
        name: 'panel-proposal',
        prepare: async ({ chat, page }) => {
          await chat.answers.last().getByRole('button', { name: /^Open/ }).click();
          await expect(page.locator('#panel').getByRole('insertion')).toBeVisible();
        },
      },
    ],
  },
  {
    settings: () => mcpSettings('ask'),
    screens: [
      {
        name: 'approval',
        prepare: async ({ chat, upstream }) => {
          await upstream.script(callTool('desk_echo', 'A text that the tool gets'));
          await chat.open();
          await chat.begin('Try it');
          await expect(chat.answers.getByRole('group', { name: 'Allow this?' })).toBeVisible();
        },
      },
      {
        name: 'denied',
        prepare: async ({ chat, upstream }) => {
          await upstream.script({ when: { tool_gave: '' }, steps: [{ text: 'So be it.' }] });
          await chat.answers.getByRole('button', { name: 'Deny' }).click();
          await chat.done();
        },
      },
    ],
  },
];
