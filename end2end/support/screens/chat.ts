/** A conversation: the first page, answers in every state, the queue. */
import { fileURLToPath } from 'node:url';
import { RICH } from '../screen-content.ts';
import { expect } from '../test.ts';
import { answered, type ScreenGroup } from './screen.ts';

const undiscovering = {
  OPENAI_BASE_URL: undefined,
  OPENAI_API_KEY: undefined,
  PARLOR_CONFIG: fileURLToPath(new URL('../undiscovering.toml', import.meta.url)),
};

export const CHAT_SCREENS: ScreenGroup[] = [
  {
    screens: [
      { name: 'new-chat', prepare: ({ chat }) => chat.open() },
      {
        name: 'answer',
        prepare: async (stage) => {
          await answered(stage, 'How do tides work?', { think: 'They ask about tides. I begin with the moon.' }, { text: RICH });
          await expect(stage.chat.answers.locator('math').first()).toBeVisible();
        },
      },
      {
        name: 'palette',
        prepare: async ({ page }) => {
          await page.keyboard.press('Control+k');
          await expect(page.getByRole('option', { name: 'How do tides work?' })).toBeVisible();
        },
      },
      {
        name: 'shortcuts',
        prepare: async ({ page }) => {
          await page.keyboard.press('Escape');
          await page.keyboard.press('Control+/');
          await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
        },
      },
      {
        name: 'problem',
        prepare: async ({ browserLog, chat, upstream }) => {
          browserLog.allowLostConnections();
          await chat.open();
          await upstream.requireKey('sk-another');
          await chat.begin('How do tides work?');
          await expect(chat.problem).toBeVisible();
        },
      },
    ],
  },
  {
    environment: undiscovering,
    screens: [
      {
        name: 'first-run',
        prepare: async ({ chat, page }) => {
          await chat.open();
          await expect(page.getByRole('heading', { name: 'Connect a model' })).toBeVisible();
        },
      },
      {
        name: 'tour-tool',
        prepare: async ({ chat }) => {
          await chat.say('Show me a tool');
          await chat.answers.getByRole('button', { name: 'Allow', exact: true }).click();
          await chat.done();
          await expect(chat.answers).toContainText('584 years');
        },
      },
    ],
  },
  {
    screens: [
      {
        name: 'thinking',
        prepare: async ({ chat, upstream }) => {
          await upstream.script({ steps: [{ think: 'First I look at the question. It is about tides, so the moon comes first.' }, { gate: 'never' }] });
          await chat.open();
          await chat.say('How do tides work?');
          await expect(chat.answers).toContainText('First I look');
        },
      },
      {
        name: 'writing-and-queue',
        prepare: async ({ chat, page, upstream }) => {
          await upstream.script({ steps: [{ text: 'The moon pulls the sea' }, { gate: 'never' }] });
          await chat.open();
          await chat.begin('How do tides work?');
          await expect(chat.answers).toContainText('The moon pulls');
          for (const text of ['And in a lake?', 'What about the Baltic Sea, which has nearly none?']) {
            await chat.message.fill(text);
            await chat.message.press('Enter');
            await expect(page.getByRole('region', { name: 'Queued messages' })).toContainText(text);
          }
        },
      },
      {
        name: 'stopped',
        prepare: async ({ chat }) => {
          await chat.open();
          await chat.begin('How do tides work?');
          await expect(chat.answers).toContainText('The moon pulls');
          await chat.stop.click();
          await chat.done();
        },
      },
    ],
  },
  {
    settings: () => '[agent]\nmax_resumptions = 0',
    screens: [
      {
        name: 'interrupted',
        prepare: async ({ browserLog, chat, parlor, upstream }) => {
          browserLog.allowLostConnections();
          await upstream.script({ steps: [{ text: 'The moon pulls the sea' }, { gate: 'never' }] });
          await chat.open();
          const path = await chat.begin('How do tides work?');
          await expect(chat.answers).toContainText('The moon pulls');
          await parlor.kill();
          await parlor.start();
          await upstream.script({ steps: [{ text: 'Here I am.' }] });
          await chat.open(path);
          await chat.say('Are you there?');
          await chat.done();
        },
      },
    ],
  },
];
