/** Accounts: setup, invitations, two users side by side, and the end of a session in open pages. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { PASSWORD, makeAccount, makeFirstAccount } from '../support/accounts.ts';
import { Chat } from '../support/chat.ts';
import type { Parlor } from '../support/parlor.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.use({ environment: { PARLOR_AUTH: 'password' } });

/** Makes the first account and waits for the page. */
async function setUp(page: Page, parlor: Parlor, name: string): Promise<void> {
  await makeFirstAccount(page, parlor, name);
  await new Chat(page).ready();
}

/** Makes an invitation on the page of the users. Returns its path. */
async function invite(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Make an invitation link' }).click();
  const link = page.getByRole('link', { name: '/invitation/' });
  await expect(link).toContainText(new URL(page.url()).origin);
  return (await link.getAttribute('href'))!;
}

async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('two users side by side see only their own', async ({ browser, page, parlor, chat }) => {
  await page.goto('/');
  await expect(page).toHaveTitle('Set up Parlor · Parlor');
  await expectAccessible(page);
  await screenshots(page, 'setup');
  await setUp(page, parlor, 'ann');
  await chat.begin('A question of Ann');
  await expect(chat.answers).toBeVisible();

  await page.goto('/settings');
  await page.getByRole('link', { name: 'Your account' }).click();
  await expect(page.getByText('You are signed in as ann')).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'account');
  await page.getByRole('link', { name: 'Users and invitations' }).click();
  await expectAccessible(page);
  await screenshots(page, 'users');
  const invitation = await invite(page);

  const context = await browser.newContext();
  const other = new Chat(await context.newPage());
  await other.page.goto(parlor.url + invitation);
  await expectAccessible(other.page);
  await makeAccount(other.page, 'ben');
  await other.ready();
  await expect(other.entries).toHaveCount(0);
  await chat.open('/');
  await other.begin('A question of Ben');
  await expect(other.titles).toHaveText(['A question of Ben']);
  await chat.begin('Another of Ann');
  await expect(chat.titles).toHaveText(['Another of Ann', 'A question of Ann']);
  await expect(other.titles).toHaveText(['A question of Ben']);
  await context.close();
});

test('signing out in one tab ends the other, which keeps its draft', async ({ browserLog, chat, newTab, page, parlor }) => {
  // The server does not know the conversation until the waiting message is sent.
  browserLog.allow(/status of 40[14]/);
  await setUp(page, parlor, 'ann');
  const other = await newTab();
  await other.open('/');
  await other.message.fill('Not sent yet');
  const notice = other.page.getByRole('alert').filter({ hasText: 'You are signed out' });
  await expect(notice).toBeHidden();
  await page.goto('/account');
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await expect(page).toHaveTitle('Sign in · Parlor');
  await expectAccessible(page);
  await screenshots(page, 'sign-in');
  await expect(notice).toBeVisible();
  await screenshots(other.page, 'signed-out');
  // A message that is sent now waits.
  await other.send.click();
  await notice.getByRole('link', { name: 'Sign in' }).click();
  await signIn(other.page, 'ann');
  await expect(other.questions).toContainText('Not sent yet');
  await expect(other.answers).toBeVisible();
  await expect(chat.page).toHaveTitle('Sign in · Parlor');
});

test('the hidden list stays hidden with accounts', async ({ chat, page, parlor }) => {
  await setUp(page, parlor, 'ann');
  await page.getByRole('button', { name: 'Hide the list' }).click();
  await chat.reload();
  await expect(chat.list).toBeHidden();
});

test('another user of the browser sees no drafts and gets no files', async ({ browserLog, chat, newTab, page, parlor }) => {
  browserLog.allow(/status of 401/);
  await setUp(page, parlor, 'ann');
  await page.goto('/account/users');
  const invitation = await invite(page);
  await chat.open('/');
  await chat.message.fill('A draft of Ann');
  const other = await newTab();
  await other.page.goto(invitation);
  await makeAccount(other.page, 'ben');
  await other.ready();
  await expect(other.message).toHaveValue('');
  await expect(page.getByRole('alert').filter({ hasText: 'You are signed out' })).toBeVisible();
  await chat.send.click();
  await other.begin('A question of Ben');
  await expect(other.titles, 'nothing of Ann is sent as Ben').toHaveText(['A question of Ben']);
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await choosing).setFiles({ name: 'ann.md', mimeType: 'text/plain', buffer: Buffer.from('Of Ann') });
  await expect(page.getByRole('list', { name: 'Attached files' })).toContainText('Another user has signed in');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('people sign in and out', async ({ browserLog, page, parlor }) => {
    browserLog.allow(/status of 401/);
    await makeFirstAccount(page, parlor, 'ann');
    await expect(page).toHaveURL(parlor.url + '/');
    await page.goto('/account');
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    await page.goto('/settings');
    await page.getByLabel('Name').fill('ann');
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).toHaveText('The name or the password is wrong. You are not signed in.');
    await signIn(page, 'ann');
    await expect(page).toHaveURL(parlor.url + '/settings');
  });
});
