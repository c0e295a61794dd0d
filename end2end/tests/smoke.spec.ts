import { expect, test } from '../support/test.ts';

test('the page opens and hydrates without errors', async ({ page, parlor }) => {
  const wasm = page.waitForResponse((response) => response.url().endsWith('.wasm'));
  await page.goto('/');
  await expect(page).toHaveTitle(/Parlor/);
  expect((await wasm).headers()).toMatchObject({ 'content-type': 'application/wasm', 'content-encoding': 'br' });
  expect(new URL(page.url()).origin).toBe(parlor.url);
});

test('immutable assets are named by content hash', async ({ page, request }) => {
  await page.goto('/');
  const stylesheet = await page.locator('link[rel=stylesheet]').first().getAttribute('href');
  const response = await request.get(stylesheet!);
  expect(stylesheet).toMatch(/^\/pkg\/parlor-[0-9a-f]{16}\.css$/);
  expect(response.headers()).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
});

test('healthz responds, also after a kill', async ({ request, parlor }) => {
  expect((await request.get('/healthz')).ok()).toBe(true);
  await parlor.kill();
  await parlor.start();
  expect((await request.get('/healthz')).ok()).toBe(true);
});
