import type { Page } from '@playwright/test';

/** Has a page believe that nobody sees it. */
export function hide(page: Page): Promise<void> {
  return page.evaluate(tell, true);
}

/** Has a page believe that somebody sees it. */
export function show(page: Page): Promise<void> {
  return page.evaluate(tell, false);
}

function tell(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}

/**
 * Stops everything that runs in a page, as the browser does with one that has long been hidden; gives what wakes it.
 * (A headless browser is asked in vain to freeze a page; a debugger that holds it does the same.)
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
