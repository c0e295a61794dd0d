import { expect, test } from '../support/test.ts';

test('the page opens and hydrates without errors', async ({ page, parlor }) => {
  const wasm = page.waitForResponse((response) => response.url().endsWith('.wasm'));
  await page.goto('/');
  await expect(page).toHaveTitle(/Parlor/);
  expect((await wasm).headers()).toMatchObject({ 'content-type': 'application/wasm', 'content-encoding': 'br' });
  expect(new URL(page.url()).origin).toBe(parlor.url);
  await expect(page.locator('link[rel=stylesheet]').first()).toHaveAttribute('href', /^\/pkg\/parlor-[0-9a-f]{16}\.css$/);
});
