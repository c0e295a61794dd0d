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

/** Stops everything that runs in a page, as the browser does with one that has long been hidden; gives what wakes it. */
export async function freeze(page: Page): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  return async () => {
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await session.detach();
  };
}
