import type { Page } from '@playwright/test';

/**
 * A clock that a test can move: `page.clock.fastForward(20_000)`. It also runs by itself. All pages of a browser context have the
 * same one: each of them needs this call.
 *
 * Playwright numbers its timers from 10¹² on, unlike browsers. The page stores them in 32 bits and could not
 * cancel one.
 */
export async function takeClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.addInitScript(() => {
    const { setTimeout, clearTimeout } = window;
    const timers = new Map<number, number>();
    let count = 0;
    Object.assign(window, {
      setTimeout: (...timer: Parameters<typeof setTimeout>) => {
        timers.set(++count, setTimeout(...timer) as unknown as number);
        return count;
      },
      clearTimeout: (timer: number) => clearTimeout(timers.get(timer)),
    });
  });
}
