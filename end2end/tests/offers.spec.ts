/** Documents with versions to accept or reject, and suggested actions. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import type { Chat } from '../support/chat.ts';
import { letter, proposeVersion } from '../support/letter.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

const panel = (page: Page) => page.locator('#panel');

/** Starts a conversation where the list may be hidden. */
async function begin(chat: Chat, text: string): Promise<string> {
  await chat.open();
  await chat.say(text);
  await chat.page.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
  return chat.path;
}

/** Scripts a letter for the next question, and a new version of it for `Bob`. */
async function writeLetter(chat: Chat, upstream: Upstream): Promise<string> {
  await upstream.script({ steps: [{ text: 'As you like.' }] });
  await upstream.script({
    when: { user_contains: 'Write' },
    steps: [{ text: `Here it is:\n\n${letter('Dear Ann,\n\nthank you.').slice(0, 30)}` }, { gate: 'rest' }, { text: `${letter('Dear Ann,\n\nthank you.').slice(30)}\n\nGood?` }],
  });
  const path = await begin(chat, 'Write a letter');
  await expect(chat.answers.getByText('Writing a document...')).toBeVisible();
  await expect(chat.answers).not.toContainText('DOCUMENT');
  await upstream.open('rest');
  await chat.done();
  return path;
}

const newVersion = (chat: Chat, upstream: Upstream) => proposeVersion(chat, upstream, 'To Bob', 'Dear Bob,\n\nthank you.');

/** The button that opens the panel for the newest payload. */
const openButton = (chat: Chat) => chat.answers.last().getByRole('button', { name: /^Open: / });

test('a document opens by itself and survives a reload', async ({ browserLog, chat, page, parlor, upstream }) => {
  // The page reconnects its event stream while the server is down.
  browserLog.allowLostConnections();
  const path = await writeLetter(chat, upstream);
  const region = page.getByRole('complementary', { name: 'Text document: Letter' });
  await expect(region.getByText('Dear Ann,')).toBeVisible();
  await expect(region.getByRole('group', { name: 'Accept this?' })).toHaveCount(0);
  const [download] = await Promise.all([page.waitForEvent('download'), region.getByRole('link', { name: 'Download' }).click()]);
  expect(download.suggestedFilename()).toBe('Letter.md');
  const live = await chat.answers.innerText();
  expect(live.indexOf('Here it is:')).toBeLessThan(live.indexOf('Text document: Letter'));
  expect(live.indexOf('Text document: Letter')).toBeLessThan(live.indexOf('Good?'));
  await parlor.restart();
  await chat.open(path);
  const now = await chat.answers.innerText();
  expect(now.replace('Open', 'Close')).toBe(live);
  await chat.answers.getByRole('button', { name: 'Open: Text document: Letter' }).click();
  await expect(region.getByText('Dear Ann,')).toBeVisible();
});

test('an accepted version is accepted in every tab', async ({ chat, page, newTab, upstream }) => {
  const path = await writeLetter(chat, upstream);
  await newVersion(chat, upstream);
  await openButton(chat).click();
  const region = page.getByRole('complementary', { name: 'Text document: Letter (2)' });
  await expect(region.getByRole('deletion')).toHaveText('Dear Ann,');
  await expect(region.getByRole('insertion')).toHaveText('Dear Bob,');
  const ask = region.getByRole('group', { name: 'Accept this?' });
  await expect(ask.getByRole('button')).toHaveText(['Accept', 'Reject']);
  await expectAccessible(page);
  await screenshots(page, 'proposal');

  const other = await newTab();
  await other.open(path);
  const card = (tab: Chat) => tab.answers.last().locator('.payload');
  await openButton(other).click();
  await expect(panel(other.page).getByRole('button', { name: 'Reject' })).toBeVisible();
  await page.bringToFront();
  await ask.getByRole('button', { name: 'Accept' }).focus();
  await page.keyboard.press('Enter');
  await expect(ask).toHaveCount(0);
  await expect(region.getByRole('status').getByText('Accepted')).toBeVisible();
  await expect(card(chat)).toContainText('Accepted');
  await expectAccessible(page);
  await screenshots(page, 'accepted');

  await other.page.bringToFront();
  await expect(panel(other.page).getByRole('status').getByText('Accepted')).toBeVisible();
  await expect(panel(other.page).getByRole('button', { name: 'Reject' })).toHaveCount(0);
  await expect(card(other)).toContainText('Accepted');
  await other.reload();
  await expect(card(other)).toContainText('Accepted');
  await expect(other.answers.first().locator('.payload')).not.toContainText('Accepted');
  await openButton(other).click();
  await expect(panel(other.page).getByRole('status').getByText('Accepted')).toBeVisible();

  await other.say('Thanks');
  await other.done();
  const told = (await upstream.asked()).at(-1)!.messages[0].content;
  expect(told).toContain('Text document: Letter (2). The person accepted it.');
});

test('a new version shows its changes in the answer and is rejected there', async ({ chat, page, upstream }) => {
  await writeLetter(chat, upstream);
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await newVersion(chat, upstream);
  const card = chat.answers.last().locator('.payload');
  await expect(card.getByRole('deletion')).toHaveText('Dear Ann,');
  await expect(card.getByRole('insertion')).toHaveText('Dear Bob,');
  await expect(panel(page)).toHaveCount(0);
  await expectAccessible(page);
  await screenshots(page, 'proposal-inline');
  await card.getByRole('button', { name: 'Reject' }).focus();
  await page.keyboard.press('Enter');
  await expect(card.getByRole('status').getByText('Rejected')).toBeVisible();
  await expect(openButton(chat)).toBeFocused();
  await chat.reload();
  await expect(card.getByRole('status').getByText('Rejected')).toBeVisible();
});

test.describe('on a phone, in the dark', () => {
  test.use({ viewport: { width: 390, height: 780 }, colorScheme: 'dark' });

  test('a proposal fills the screen and can be answered', async ({ chat, page, upstream }) => {
    await writeLetter(chat, upstream);
    await newVersion(chat, upstream);
    await openButton(chat).click();
    await expect(page.getByRole('dialog').getByText('Dear Bob,')).toBeVisible();
    await expectAccessible(page);
    await screenshots(page, 'proposal-phone');
    await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click();
    await expect(page.getByRole('dialog').getByText('Accepted')).toBeVisible();
    await expectAccessible(page);
  });

  test('action buttons fit', async ({ chat, page, upstream }) => {
    await suggestActions(chat, upstream);
    await expectAccessible(page);
    await screenshots(page, 'actions-phone');
  });
});

const actions = [
  { label: 'Save the draft', action: 'save', handler: 'server', data: { id: 7 }, style: 'primary' },
  { label: 'Copy it', action: 'copy_answer', handler: 'client' },
  { label: 'Delete all drafts', action: 'delete_all', handler: 'server', style: 'warning' },
  { label: 'Format the disk', action: 'format_disk', handler: 'client' },
];

/** Starts a conversation whose answer suggests actions and a value. */
async function suggestActions(chat: Chat, upstream: Upstream): Promise<string> {
  await upstream.script({ steps: [{ text: 'Done.' }] });
  const values = JSON.stringify([{ label: 'Go on', value: 'Please go on' }]);
  await upstream.script({
    when: { user_contains: 'What can' },
    steps: [{ text: `This:\n\nSUGGESTED_VALUES: ${values}\nSUGGESTED_ACTIONS: ${JSON.stringify(actions)}` }],
  });
  const path = await begin(chat, 'What can you do?');
  await chat.done();
  await expect(buttons(chat)).toHaveText(['Save the draft', 'Copy it', 'Delete all drafts']);
  return path;
}

const buttons = (chat: Chat) => chat.page.getByRole('group', { name: 'Actions' }).getByRole('button');

test('a server action starts one turn and is spent', async ({ chat, page, newTab, upstream }) => {
  const path = await suggestActions(chat, upstream);
  await expect(chat.answers).not.toContainText('SUGGESTED');
  await expectAccessible(page);
  await screenshots(page, 'actions');
  const other = await newTab();
  await other.open(path);
  await expect(buttons(other)).toHaveCount(3);
  await page.bringToFront();
  await chat.tabTo(buttons(chat).first(), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(chat.questions.last()).toContainText('Save the draft');
  await expect(chat.questions.last()).toContainText('Button: save');
  await chat.done();
  await expect(buttons(chat)).toHaveCount(0);
  const asked = (await upstream.asked()).at(-1)!.messages;
  expect(asked.at(-1)).toMatchObject({ role: 'user', content: 'Save the draft' });
  expect(asked[0].content).toContain('the button of your action "save" with the data {"id":7}');
  await other.page.bringToFront();
  await expect(buttons(other)).toHaveCount(0);
  await expect(other.questions.last()).toContainText('Button: save');
  await other.reload();
  await expect(other.questions.last()).toContainText('Button: save');
  await expect(buttons(other)).toHaveCount(0);
});

test('a page action runs at once and is spent everywhere', async ({ chat, page, context, newTab, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const path = await suggestActions(chat, upstream);
  const other = await newTab();
  await other.open(path);
  await page.bringToFront();
  await buttons(chat).nth(1).focus();
  await page.keyboard.press('Enter');
  await expect(chat.toast('Copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('This:');
  for (const tab of [chat, other]) {
    await tab.page.bringToFront();
    await expect(buttons(tab).nth(1)).toHaveAttribute('aria-disabled', 'true');
    await expect(buttons(tab).nth(1)).toHaveAccessibleName('Copy it (done)');
    await expect(buttons(tab).first()).not.toHaveAttribute('aria-disabled');
  }
  await page.bringToFront();
  await expect(buttons(chat).nth(1)).toBeFocused();
  await expectAccessible(page);
  await chat.reload();
  await expect(buttons(chat).nth(1)).toHaveAccessibleName('Copy it (done)');
  await expect(chat.questions).toHaveCount(1);
});

test('asks before an action that cannot be undone', async ({ chat, page, upstream }) => {
  await suggestActions(chat, upstream);
  const dialog = page.getByRole('dialog', { name: 'Delete all drafts' });
  await buttons(chat).nth(2).click();
  await expect(dialog).toContainText('Delete all drafts');
  await expectAccessible(page);
  await screenshots(page, 'action-warning');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(buttons(chat).nth(2)).toBeFocused();
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(chat.questions).toHaveCount(1);
  await buttons(chat).nth(2).click();
  await dialog.getByRole('button', { name: 'Go ahead' }).click();
  await expect(chat.questions.last()).toContainText('Button: delete_all');
  await chat.done();
});

test('the model learns that a value was chosen', async ({ chat, upstream }) => {
  await suggestActions(chat, upstream);
  await chat.page.getByRole('group', { name: 'Suggestions' }).getByRole('button').click();
  await expect(chat.questions.last()).toContainText('Please go on');
  await chat.done();
  const told = (await upstream.asked()).at(-1)!.messages[0].content;
  expect(told).toContain('"Please go on": chosen from your suggestions');
});

test('an action opens an earlier payload', async ({ chat, page, upstream }) => {
  await writeLetter(chat, upstream);
  await page.getByRole('button', { name: 'Close the panel' }).click();
  const payload_id = await chat.answers.locator('.payload[data-payload]').getAttribute('data-payload');
  const open = [
    { label: 'See the letter', action: 'open', handler: 'client', data: { payload_id } },
    { label: 'See nothing', action: 'open', handler: 'client', data: { payload_id: 'unknown1' } },
    { label: 'Something else', action: 'new_conversation', handler: 'client' },
  ];
  await upstream.script({ when: { user_contains: 'Where' }, steps: [{ text: `There.\nSUGGESTED_ACTIONS: ${JSON.stringify(open)}` }] });
  await chat.say('Where is it?');
  await chat.done();
  await expect(buttons(chat), 'what is not there has no button').toHaveText(['See the letter', 'Something else']);
  await buttons(chat).first().click();
  await expect(panel(page).getByText('Dear Ann,')).toBeVisible();
  await buttons(chat).nth(1).click();
  await expect(chat.title).toHaveText('New chat');
  await expect(chat.message).toBeFocused();
});
