/** What finds and keeps conversations: the search, projects, the archive, the files of a person. */
import { expect } from '../test.ts';
import { answered, type ScreenGroup } from './screen.ts';

const PROJECT = '01a2217b-0246-7346-8b45-a4bcd684a3d1';

export const FINDING_SCREENS: ScreenGroup[] = [
  {
    screens: [
      {
        name: 'search',
        prepare: async (stage) => {
          const { page } = stage;
          await answered(stage, 'Why is there a tide?', { text: 'The moon pulls the sea: where it is nearest, the **tide** is high.' });
          await answered(stage, 'And at Brest?', { text: 'At Brest the spring tide is 7 m.' });
          await page.keyboard.press('Control+k');
          await page.getByRole('dialog').getByRole('combobox').fill('tide');
          await expect(page.getByRole('dialog').locator('mark').first()).toBeVisible();
        },
      },
      {
        name: 'find',
        prepare: async ({ chat, page }) => {
          await page.keyboard.press('Escape');
          await chat.entry('Why is there a tide?').click();
          await page.keyboard.press('Control+Shift+F');
          await page.getByRole('dialog').getByRole('combobox').fill('tide');
          await page.getByRole('dialog').getByRole('option').first().click();
          await expect(page.getByRole('group', { name: 'Found in this chat' })).toBeVisible();
        },
      },
      {
        name: 'project-form',
        prepare: async ({ chat, page }) => {
          await chat.open();
          await chat.list.getByRole('button', { name: 'New project' }).click();
          const form = page.getByRole('dialog');
          await form.getByLabel('Name').fill('Harbour');
          await form.getByLabel('Instructions').fill('Heights in metres above chart datum.');
        },
      },
      {
        name: 'project',
        prepare: async ({ chat, page, parlor, upstream }) => {
          await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
          const url = `${parlor.url}/api/projects/${PROJECT}`;
          await page.request.put(url, { data: { name: 'Harbour', colour: 'green', instructions: 'Heights in metres.' } });
          await page.request.post(`${url}/files?name=tables.txt`, { data: 'Brest 7 m' });
          await chat.open(`/project/${PROJECT}`);
          await upstream.script({ steps: [{ text: 'At six.' }] });
          await chat.say('When is high water?');
          await page.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
          await chat.done();
          await chat.open(`/project/${PROJECT}`);
          await expect(page.getByRole('region', { name: 'Chats' }).getByText('When is high water?')).toBeVisible();
          await expect(page.getByRole('region', { name: 'Files' }).getByText('tables.txt')).toBeVisible();
        },
      },
      {
        name: 'archive',
        prepare: async ({ chat }) => {
          await chat.press('Archive', 'And at Brest?');
          await chat.list.getByRole('button', { name: 'Actions for the list' }).click();
          await chat.page.getByRole('menuitem', { name: 'Archived chats' }).click();
          await expect(chat.entry('And at Brest?')).toBeVisible();
        },
        onPhone: ({ page }) => page.getByRole('button', { name: 'Conversations' }).click(),
      },
      {
        name: 'files',
        prepare: async ({ page }) => {
          await page.goto('/settings/files');
          await expect(page.locator('.file-row')).toHaveCount(1);
        },
      },
    ],
  },
];
