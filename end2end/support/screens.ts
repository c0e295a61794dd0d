/**
 * The screens of Parlor, for photographs (`make photos`) and for checks of every screen: `eachScreen('is …', check)`.
 * They are in the files of `screens/`.
 */
import type { Page } from '@playwright/test';
import { ACCOUNT_SCREENS } from './screens/accounts.ts';
import { CHAT_SCREENS } from './screens/chat.ts';
import { PAGE_SCREENS } from './screens/pages.ts';
import { TOOL_SCREENS } from './screens/tools.ts';
import { test } from './test.ts';

const SCREENS = [...CHAT_SCREENS, ...TOOL_SCREENS, ...PAGE_SCREENS, ...ACCOUNT_SCREENS];

/** Declares a test for each screen. */
export function eachScreen(what: string, check: (page: Page, name: string) => Promise<void>): void {
  for (const { name, environment, settings, prepare } of SCREENS) {
    test.describe(name, () => {
      if (environment) test.use({ environment });
      if (settings) test.use({ settings: async ({ upstream }, use) => use(settings(upstream)) });
      test(`${name} ${what}`, async ({ browserLog, chat, page, parlor, upstream }) => {
        await prepare({ browserLog, chat, page, parlor, upstream });
        await check(page, name);
      });
    });
  }
}
