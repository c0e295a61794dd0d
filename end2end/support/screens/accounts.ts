/** The pages of accounts. */
import { expect } from '../test.ts';
import type { Screen, Stage } from './screen.ts';

async function firstAccount({ chat, page, parlor }: Stage): Promise<void> {
  await expect.poll(() => parlor.output).toContain('/setup?token=');
  const [, path] = /first account at http:\/\/[^/]+(\/setup\S+)/.exec(parlor.output) ?? [];
  await page.goto(path!);
  await page.getByLabel('Name').fill('ann');
  await page.getByLabel('Password', { exact: true }).fill('a long password');
  await page.getByLabel('Password again').fill('a long password');
  await page.getByRole('button', { name: 'Make the account' }).click();
  await chat.ready();
}

const withAccounts = { PARLOR_AUTH: 'password' };

export const ACCOUNT_SCREENS: Screen[] = [
  {
    name: 'sign-in',
    environment: withAccounts,
    prepare: async (stage) => {
      await firstAccount(stage);
      await stage.page.context().clearCookies();
      await stage.page.goto('/sign-in');
      await stage.page.getByLabel('Name').fill('ann');
      await stage.page.getByLabel('Password').fill('wrong');
      stage.browserLog.allow(/status of 4\d\d/);
      await stage.page.getByRole('button', { name: 'Sign in' }).click();
      await expect(stage.page.locator('.account-error')).toBeVisible();
    },
  },
  {
    name: 'setup',
    environment: withAccounts,
    prepare: async ({ page }) => {
      await page.goto('/');
      await expect(page).toHaveTitle('Set up Parlor · Parlor');
    },
  },
  {
    name: 'account',
    environment: withAccounts,
    prepare: async (stage) => {
      await firstAccount(stage);
      await stage.page.goto('/account');
    },
  },
  {
    name: 'audit',
    environment: withAccounts,
    prepare: async (stage) => {
      await firstAccount(stage);
      await stage.page.goto('/account/audit');
      await expect(stage.page.getByRole('heading', { level: 1 })).toBeVisible();
    },
  },
  {
    name: 'users',
    environment: withAccounts,
    prepare: async (stage) => {
      await firstAccount(stage);
      await stage.page.goto('/account/users');
      await expect(stage.page.getByRole('button', { name: 'Make an invitation link' })).toBeVisible();
    },
  },
  {
    name: 'invitation',
    environment: withAccounts,
    prepare: async (stage) => {
      await firstAccount(stage);
      await stage.page.goto('/account/users');
      await stage.page.getByRole('button', { name: 'Make an invitation link' }).click();
      await expect(stage.page.getByRole('link', { name: '/invitation/' })).toBeVisible();
    },
  },
];
