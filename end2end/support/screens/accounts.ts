/** The pages of accounts. */
import { makeAccount, makeFirstAccount, PASSWORD } from '../accounts.ts';
import { expect } from '../test.ts';
import type { ScreenGroup } from './screen.ts';

export const ACCOUNT_SCREENS: ScreenGroup[] = [
  {
    environment: { PARLOR_AUTH: 'password' },
    screens: [
      {
        name: 'setup',
        prepare: async ({ page }) => {
          await page.goto('/');
          await expect(page).toHaveTitle('Set up Parlor · Parlor');
        },
      },
      {
        name: 'account',
        prepare: async ({ chat, page, parlor }) => {
          await makeFirstAccount(page, parlor, 'ann');
          await chat.ready();
          await page.goto('/settings/account');
          await expect(page.getByText('You are signed in as ann')).toBeVisible();
        },
      },
      {
        name: 'audit',
        prepare: async ({ page }) => {
          await page.goto('/settings/audit');
          await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        },
      },
      {
        name: 'users',
        prepare: async ({ page }) => {
          await page.goto('/settings/users');
          await expect(page.getByRole('heading', { name: 'Users' })).toBeVisible();
        },
      },
      {
        name: 'invitation',
        prepare: async ({ page }) => {
          await page.goto('/settings/invitations');
          await page.getByRole('button', { name: 'Make an invitation link' }).click();
          await expect(page.getByRole('textbox', { name: 'Link' })).toBeVisible();
        },
      },
      {
        name: 'joining',
        prepare: async ({ page }) => {
          const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
          await page.context().clearCookies();
          await page.goto(link);
          await expect(page.getByRole('button', { name: 'Make the account' })).toBeVisible();
        },
      },
      {
        name: 'new-password',
        prepare: async ({ page }) => {
          await makeAccount(page, 'ben');
          await page.waitForURL('/');
          await page.context().clearCookies();
          await page.goto('/sign-in');
          await page.getByLabel('Name').fill('ann');
          await page.getByLabel('Password').fill(PASSWORD);
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.waitForURL('/');
          await page.goto('/settings/users');
          await page.getByRole('button', { name: 'New password link' }).click();
          const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
          await page.context().clearCookies();
          await page.goto(link);
          await expect(page.getByLabel('Password again')).toBeVisible();
        },
      },
      {
        name: 'sign-in',
        prepare: async ({ browserLog, page }) => {
          await page.context().clearCookies();
          await page.goto('/sign-in');
          await page.getByLabel('Name').fill('ann');
          await page.getByLabel('Password').fill('wrong');
          browserLog.allow(/status of 4\d\d/);
          await page.getByRole('button', { name: 'Sign in' }).click();
          await expect(page.locator('.account-error')).toBeVisible();
        },
      },
    ],
  },
];
