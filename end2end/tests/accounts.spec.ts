/** Accounts: setup, invitations, two users side by side, and the end of a session in open pages. */
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { PASSWORD, makeAccount, makeFirstAccount } from '../support/accounts.ts';
import { Chat } from '../support/chat.ts';
import type { Parlor } from '../support/parlor.ts';
import { screenshots } from '../support/screenshots.ts';
import { Settings } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

test.use({ environment: { PARLOR_AUTH: 'password' } });

/** Makes the first account and waits for the page. */
async function setUp(page: Page, parlor: Parlor, name: string): Promise<void> {
  await makeFirstAccount(page, parlor, name);
  await new Chat(page).ready();
}

/** Makes an invitation on its tab. Returns its path. */
async function invite(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Make an invitation link' }).click();
  const link = page.getByRole('textbox', { name: 'Link' });
  await expect(link).toHaveValue(/\/invitation\//);
  const url = new URL(await link.inputValue());
  expect(url.origin).toBe(new URL(page.url()).origin);
  return url.pathname;
}

/** Opens the menu at the foot of the list. */
async function openMenu(page: Page, name: string) {
  await page.getByRole('button', { name: `${name} settings and account` }).click();
  return page.getByRole('group', { name: 'Settings and account' });
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

  const settings = new Settings(page);
  await (await openMenu(page, 'ann')).getByRole('link', { name: 'Settings' }).click();
  await settings.tab('Account').click();
  await expect(page.getByText('You are signed in as ann')).toBeVisible();
  await expect(chat.list, 'the list stays beside it').toContainText('A question of Ann');
  await expectAccessible(page);
  await screenshots(page, 'account');
  await settings.tab('Users').click();
  await expect(page.getByRole('heading', { name: 'Users' })).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'users');
  await settings.tab('Invitations').click();
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
  await (await openMenu(page, 'ann')).getByRole('button', { name: 'Sign out' }).click();
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

test('the menu at the foot of the list works with the keyboard', async ({ page, parlor }) => {
  await setUp(page, parlor, 'ann');
  const row = page.getByRole('button', { name: 'ann settings and account' });
  await row.focus();
  await page.keyboard.press('Enter');
  const menu = page.getByRole('group', { name: 'Settings and account' });
  await expect(menu).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'person-menu');
  await page.keyboard.press('Tab');
  await expect(menu.getByRole('link', { name: 'Settings' })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowLeft');
  await expect(menu.getByRole('radio', { name: 'Dark' })).toBeChecked();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect(row).toBeFocused();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Conversations' }).click();
  await (await openMenu(page, 'ann')).getByRole('link', { name: 'Settings' }).click();
  await expect(new Settings(page).region).toBeFocused();
  await expect(menu).toBeHidden();
});

test('tabs of the server are shown inside the page, fail and recover', async ({ browserLog, chat, context, page, parlor }) => {
  browserLog.allowLostConnections();
  browserLog.allow(/status of 40\d/);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await setUp(page, parlor, 'ann');
  const settings = new Settings(page);
  await settings.open();
  const marked = () => page.evaluate(() => (window as any).isSamePage);
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  await page.route('**/settings/devices', (route) => route.abort());
  await settings.tab('Devices').click();
  const failure = page.getByRole('alert').filter({ hasText: 'This could not be loaded' });
  await expect(failure).toBeVisible();
  await page.unroute('**/settings/devices');
  await failure.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('This device')).toBeVisible();
  await expect(page.locator('.account-content time').first(), 'in the browser’s format').not.toContainText('UTC');
  await settings.tab('Users').click();
  await expect(page.getByText('Administrator', { exact: true })).toBeVisible();
  await page.goBack();
  await expect(page.getByText('This device')).toBeVisible();
  expect(await marked(), 'no page was loaded').toBe(true);

  await settings.tab('Account').click();
  await page.getByLabel('Old password').fill('wrong');
  await page.getByLabel('New password', { exact: true }).fill('one');
  await page.getByLabel('New password again').fill('another');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The two new passwords differ' })).toBeVisible();
  await expect(page).toHaveURL('/settings/account');
  await chat.list.getByRole('link', { name: 'New chat' }).click();
  await expect(chat.message, 'the page works').toBeFocused();
  await settings.open('/settings/invitations');
  const path = await invite(page);
  await page.getByRole('button', { name: 'Copy the link' }).click();
  await expect(chat.toast('Copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(parlor.url + path);
});

test('members see no tabs of administrators', async ({ browser, browserLog, page, parlor }) => {
  browserLog.allow(/status of 403/);
  await setUp(page, parlor, 'ann');
  await page.goto('/settings/invitations');
  const invitation = await invite(page);
  const context = await browser.newContext();
  const ben = await context.newPage();
  await ben.goto(parlor.url + invitation);
  await makeAccount(ben, 'ben');
  await new Chat(ben).ready();
  await ben.goto(parlor.url + '/settings/users');
  await expect(ben.getByRole('alert').filter({ hasText: 'Only administrators' })).toBeVisible();
  const settings = new Settings(ben);
  await expect(settings.tab('Devices')).toBeVisible();
  for (const name of ['Users', 'Invitations', 'Audit log']) await expect(settings.tab(name)).toHaveCount(0);
  await context.close();
});

test('tabs fit on a phone', async ({ page, parlor }) => {
  await setUp(page, parlor, 'ann');
  await page.setViewportSize({ width: 390, height: 844 });
  const settings = new Settings(page);
  for (const path of ['', '/memories', '/tokens', '/usage', '/account', '/devices', '/users', '/invitations', '/audit']) {
    await settings.open('/settings' + path);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow(), path).toBe(0);
    expect(await settings.region.evaluate((region) => region.scrollWidth - region.clientWidth), path).toBe(0);
    await expect(settings.tab('Audit log'), path).toBeVisible({ visible: path === '' });
    await expect(settings.up, path).toBeVisible({ visible: path !== '' });
  }
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
  await page.goto('/settings/invitations');
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
    browserLog.allow(/status of 40[01]/);
    await makeFirstAccount(page, parlor, 'ann');
    await expect(page).toHaveURL(parlor.url + '/');
    await page.goto('/settings/devices');
    await expect(page.getByText('This device')).toBeVisible();
    await page.goto('/account');
    await expect(page, 'an address of earlier versions').toHaveURL('/settings/account');
    await page.getByLabel('Old password').fill('wrong');
    await page.getByLabel('New password', { exact: true }).fill('one');
    await page.getByLabel('New password again').fill('another');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await expect(page.getByRole('alert')).toHaveText(/The two new passwords differ/);
    const menu = await openMenu(page, 'ann');
    await expect(menu.getByRole('link', { name: 'Settings' })).toBeVisible();
    await menu.getByRole('button', { name: 'Sign out' }).click();
    await page.goto('/settings');
    await page.getByLabel('Name').fill('ann');
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).toHaveText('The name or the password is wrong. You are not signed in.');
    await signIn(page, 'ann');
    await expect(page).toHaveURL(parlor.url + '/settings');
  });
});
