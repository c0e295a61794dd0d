import { expect, type Page } from '@playwright/test';

/** Makes a page believe that it is hidden. */
export function hide(page: Page): Promise<void> {
  return page.evaluate(tell, true);
}

/**
 * Makes a page believe that it is hidden, and stops its clock (see `takeClock`) until it is the hidden tab that keeps its
 * stream: on a slow machine it would close its stream first, and open it again.
 */
export async function hideWithStream(page: Page): Promise<void> {
  await page.clock.pauseAt(new Date(Date.now() + 1000));
  await hide(page);
  const isHolder = async () => {
    const { held = [], pending = [] } = await navigator.locks.query();
    const isOurs = (lock: LockInfo) => lock.name === 'parlor-hidden';
    return held.some(isOurs) && !pending.some(isOurs);
  };
  await expect.poll(() => page.evaluate(isHolder)).toBe(true);
  await page.clock.resume();
}

/** Makes a page believe that it is visible. */
export function show(page: Page): Promise<void> {
  return page.evaluate(tell, false);
}

function tell(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}

/**
 * Freezes a page, as browsers do after it has long been hidden; returns a function that resumes it.
 * (A headless browser ignores a request to freeze a page; pausing it in the debugger has the same effect.)
 */
export async function freeze(page: Page): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Debugger.enable');
  const held = new Promise((resolve) => session.once('Debugger.paused', resolve));
  const over = session.send('Runtime.evaluate', { expression: 'debugger' });
  await held;
  return async () => {
    await session.send('Debugger.resume');
    await over;
    await session.detach();
  };
}
