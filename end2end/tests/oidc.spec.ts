/** Signing in and out at a real OpenID provider. */
import { expectAccessible } from '../support/accessibility.ts';
import { CLIENT_SECRET, OidcProvider } from '../support/oidc.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test as base } from '../support/test.ts';

const test = base.extend<{ provider: OidcProvider }>({
  provider: async ({}, use) => {
    const provider = await OidcProvider.start();
    await provider.setUsers({ ann: { sub: '1', preferred_username: 'ann' } });
    await use(provider);
    provider.kill();
  },
  settings: async ({ provider }, use) => use(provider.settings),
});

test.use({ environment: { PARLOR_AUTH: 'oidc', OIDC_SECRET: CLIENT_SECRET } });

test('people sign in and out at the provider', async ({ browserLog, chat, page }) => {
  // The provider has no icon, and its refusal is a page with that status.
  browserLog.allow(/status of 40[34]/);
  await page.goto('/settings');
  await expect(page).toHaveTitle('Sign in · Parlor');
  await expectAccessible(page);
  await screenshots(page, 'sign-in-provider');
  const signIn = page.getByRole('link', { name: 'Sign in at Team ID' });

  await signIn.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('alert')).toContainText('Team ID did not sign you in');
  await expect(page.getByRole('alert')).toContainText('“<b>The user</b> did not want to.”');
  await screenshots(page, 'sign-in-refused');

  await signIn.click();
  await page.getByLabel('User').fill('ann');
  await page.getByRole('button', { name: 'Sign in here' }).click();
  await expect(page).toHaveURL(/\/settings$/);
  await chat.open('/');
  await chat.begin('A question of Ann');
  await expect(chat.answers).toBeVisible();

  await page.goto('/settings/account');
  await expect(page.getByText('You are signed in as ann')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Password' })).toHaveCount(0);
  await screenshots(page, 'account-provider');
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Yes' }).click();
  await expect(page).toHaveTitle('Sign in · Parlor');
  await page.goto('/');
  await expect(page).toHaveTitle('Sign in · Parlor');
  await signIn.click();
  await expect(page.getByLabel('User'), 'the provider’s session has ended too').toBeVisible();
});
