import type { Page } from '@playwright/test';

/**
 * Waits until all events so far are painted. By then the page has done everything that it does, or should not do, by
 * itself. For assertions that something stays unchanged.
 */
export async function waitForPaint(page: Page): Promise<void> {
  await page.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}
