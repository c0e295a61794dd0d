import { expect, type Page } from '@playwright/test';
import type { Parlor } from './parlor.ts';

export const PASSWORD = 'a long password';

/** Makes the first account at the printed URL. */
export async function makeFirstAccount(page: Page, parlor: Parlor, name: string): Promise<void> {
  await expect.poll(() => parlor.output, { intervals: [50] }).toContain('/setup?token=');
  const [, path] = /first account at http:\/\/[^/]+(\/setup\S+)/.exec(parlor.output) ?? [];
  await page.goto(path!);
  await makeAccount(page, name);
}

/** Fills in the form of a new account, and sends it. */
export async function makeAccount(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Password again').fill(PASSWORD);
  await page.getByRole('button', { name: 'Make the account' }).click();
}
