import type { Page } from '@playwright/test';

/**
 * Waits until what has happened so far is painted: whatever the page does about it by itself, or should not do, is done by
 * then. For what is to stay as it is, of which there is nothing to wait for.
 */
export async function painted(page: Page): Promise<void> {
  await page.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}
