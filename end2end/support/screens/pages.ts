/** Dialogs, lists, settings, Literature, and the page of all components. */
import { Literature } from '../literature.ts';
import { placeArticles, pubmed, tides } from '../pubmed.ts';
import { Settings } from '../settings.ts';
import { expect } from '../test.ts';
import { answered, type ScreenGroup } from './screen.ts';

export const PAGE_SCREENS: ScreenGroup[] = [
  {
    screens: [
      {
        name: 'list-selection',
        prepare: async (stage) => {
          await answered(stage, 'Hello', { text: 'Hello! What shall we talk about?' });
          await stage.chat.press('Select', 'Hello');
          await expect(stage.chat.list.getByRole('checkbox', { name: 'Hello' })).toBeChecked();
        },
      },
      {
        name: 'diagnostics',
        prepare: async (stage) => {
          // The row lost the focus while a narrow window hid it.
          await stage.chat.list.getByRole('checkbox').press('Escape');
          await expect(stage.chat.list.getByRole('checkbox')).toHaveCount(0);
          await stage.chat.openDiagnostics();
          await expect(stage.page.getByRole('dialog', { name: 'Diagnostics' })).toBeVisible();
        },
      },
      {
        name: 'toast',
        prepare: async (stage) => {
          await stage.page.keyboard.press('Escape');
          await expect(stage.page.getByRole('dialog', { name: 'Diagnostics' })).toBeHidden();
          await stage.chat.say('Tides');
          await stage.chat.done();
          await stage.chat.questions.last().hover();
          await stage.chat.questions.last().getByRole('button', { name: 'Delete' }).click();
          await expect(stage.page.getByRole('button', { name: 'Undo' })).toBeVisible();
        },
      },
      {
        name: 'conversations',
        prepare: async ({ chat, page, upstream }) => {
          await upstream.script({ steps: [{ text: 'Well.' }] });
          await chat.open();
          for (const text of ['Tides and the moon', 'A letter to the harbour, which is a rather long title', 'Prices of fish']) {
            await chat.begin(text);
            await chat.done();
          }
        },
        onPhone: ({ page }) => page.getByRole('button', { name: 'Conversations' }).click(),
      },
      {
        name: 'settings',
        prepare: async ({ chat, page, upstream }) => {
          await upstream.script({ when: { tool_gave: 'remembered' }, steps: [{ text: 'Noted.' }] });
          await upstream.script({ when: { user_contains: 'Remember' }, steps: [{ tool_call: { id: 'c', name: 'remember', arguments: '{"text":"Likes the sea, and short answers."}' } }] });
          await chat.open();
          await chat.begin('Remember that');
          await chat.done();
          const settings = new Settings(page);
          await settings.open();
          await settings.instructions.fill('I am a pilot in the harbour of Hamburg.');
        },
      },
      { name: 'settings-general', prepare: ({ page }) => new Settings(page).open('/settings/general') },
      {
        name: 'settings-tokens',
        prepare: async ({ page }) => {
          const settings = new Settings(page);
          await settings.open('/settings/tokens');
          await settings.makeToken('A script');
        },
      },
      {
        name: 'not-found',
        prepare: async ({ browserLog, page }) => {
          browserLog.allow(/status of 404/);
          await page.goto('/c/0190d7a0-0000-7000-8000-000000000000');
          await expect(page.getByText('This conversation does not exist.')).toBeVisible();
        },
      },
      {
        // Of development builds: every component in every state.
        name: 'design',
        prepare: async ({ page }) => {
          await page.goto('/design');
          await expect(page.getByRole('region', { name: 'Messages', exact: true }).first()).toBeVisible();
        },
      },
    ],
  },
  {
    models: Array.from({ length: 12 }, (_, index) => `a-model-of-some-size-${index + 1}b-instruct`),
    screens: [
      {
        name: 'models',
        prepare: async ({ chat, page }) => {
          await chat.open();
          await chat.model.click();
          await expect(page.getByRole('combobox', { name: 'Find a model' })).toBeVisible();
        },
      },
    ],
  },
  {
    settings: pubmed,
    screens: [
      {
        name: 'literature',
        prepare: async ({ page, upstream }) => {
          await placeArticles(upstream);
          const literature = new Literature(page);
          await literature.open();
          await literature.search('tides');
        },
        onPhone: ({ page }) => page.getByRole('button', { name: 'Close the chat' }).click(),
      },
      {
        name: 'literature-article',
        prepare: async ({ page, upstream }) => {
          await upstream.script({ steps: [{ text: 'It is about tides.' }] });
          const literature = new Literature(page);
          // Closed for the photograph on a phone.
          if (!(await literature.tray.isVisible())) await literature.openTray.click();
          await literature.save(tides.title).click();
          await literature.entry(tides.title).click();
          await expect(page.getByText(tides.text)).toBeVisible();
          await literature.ask('What is this about?');
          await expect(literature.answers.getByText('It is about tides.')).toBeVisible();
        },
        onPhone: ({ page }) => page.getByRole('button', { name: 'Close the chat' }).click(),
      },
      {
        name: 'edit-stream',
        prepare: async ({ page, upstream }) => {
          const suggestion = { name: 'Tides and the moon', query: 'tides[ti] AND moon', explanation: 'The query is *narrower*.' };
          await upstream.script({ when: { user_contains: 'Suggest' }, steps: [{ text: `Try this:\nSTREAM_SUGGESTIONS: ${JSON.stringify(suggestion)}\n` }] });
          const literature = new Literature(page);
          await literature.open('/stream/new');
          const form = page.locator('#edit_stream');
          await form.getByLabel('Name', { exact: true }).fill('Tides');
          await form.getByLabel('Query for PubMed').fill('tides');
          await form.getByRole('button', { name: 'Add a field' }).click();
          if (!(await literature.tray.isVisible())) await literature.openTray.click();
          await literature.ask('Suggest a better query');
          await expect(literature.answers.locator('.proposal')).toBeVisible();
        },
        onPhone: ({ page }) => page.getByRole('button', { name: 'Close the chat' }).click(),
      },
      {
        name: 'streams',
        prepare: async ({ page }) => {
          const form = page.locator('#edit_stream');
          await form.getByRole('button', { name: 'Remove' }).click();
          await form.getByRole('button', { name: 'Save' }).click();
          await page.getByRole('link', { name: 'All streams' }).click();
          await expect(page.getByRole('heading', { name: 'Streams' })).toBeVisible();
        },
      },
      {
        name: 'report-summary',
        prepare: async ({ page, upstream }) => {
          const literature = new Literature(page);
          const answer = {
            relevant: true,
            reason: 'It is about what moves the sea.',
            category: 'Trials',
            answers: [{ name: 'height', value: '5 m', passage: 'moves the sea' }],
            claims: [
              { text: 'The moon moves the sea.', pmid: tides.pmid, passage: tides.text },
              { text: 'The sun moves it, too.', pmid: tides.pmid, passage: 'The sun moves the sea.' },
            ],
          };
          await upstream.script({ when: { user_contains: 'moves' }, steps: [{ text: JSON.stringify(answer) }] });
          await page.getByRole('link', { name: /^Report: / }).click();
          await page.locator('#reports').getByRole('button', { name: 'Make the report' }).click();
          await expect(page.locator('.report-claims')).toBeVisible();
          if (await literature.tray.isVisible()) await page.getByRole('button', { name: 'Close the chat' }).click();
        },
      },
      {
        name: 'report-articles',
        prepare: async ({ page }) => {
          await page.locator('#reports').getByRole('link', { name: 'Articles' }).click();
          await expect(page.locator('#report-grid')).toBeVisible();
        },
      },
      {
        name: 'report-article',
        prepare: async ({ page }) => {
          await page.locator('#report-grid').getByRole('link', { name: tides.title }).click();
          await expect(page.getByRole('heading', { name: tides.title })).toBeVisible();
        },
      },
      {
        name: 'schedule-form',
        prepare: async ({ page }) => {
          await page.goto('/schedules/new');
          const form = page.locator('#schedules');
          // The time zone arrives with the hydration.
          await expect(form.getByLabel('Time zone')).not.toHaveValue('');
          await form.getByLabel('Prompt').fill('What is new about tides since yesterday?');
        },
      },
      {
        name: 'schedules',
        prepare: async ({ page }) => {
          const form = page.locator('#schedules');
          await form.getByLabel('Limit of a month').fill('5');
          await form.getByRole('button', { name: 'Save' }).click();
          const entry = form.getByRole('listitem').first();
          await entry.getByRole('button', { name: 'Pause' }).click();
          await expect(entry.getByText('Paused')).toBeVisible();
          await entry.getByRole('button', { name: 'Run now' }).click();
          await expect(entry.getByText('Last:')).toBeVisible();
        },
      },
    ],
  },
];
