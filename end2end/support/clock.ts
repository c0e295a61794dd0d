import type { Page } from '@playwright/test';

/**
 * A clock that a test moves by hand: `page.clock.fastForward(20_000)`. Time goes on by itself too.
 *
 * Playwright numbers its timers from 10¹² on, which no browser does: the page, for which they are 32 bits, could not
 * call one off.
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
