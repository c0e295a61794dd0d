/**
 * The screens of Parlor, for photographs (`make photos`) and for checks of every screen: `eachScreen('is …', check)`.
 * They are in the files of `screens/`.
 */
import type { Page } from '@playwright/test';
import { ACCOUNT_SCREENS } from './screens/accounts.ts';
import { CHAT_SCREENS } from './screens/chat.ts';
import { FINDING_SCREENS } from './screens/finding.ts';
import { PAGE_SCREENS } from './screens/pages.ts';
import { TOOL_SCREENS } from './screens/tools.ts';
import { test } from './test.ts';

const GROUPS = [...CHAT_SCREENS, ...TOOL_SCREENS, ...FINDING_SCREENS, ...PAGE_SCREENS, ...ACCOUNT_SCREENS];

/** Declares a test for each group of screens, with a step for each screen. `onPhone` is called once the window is narrow. */
export function eachScreen(what: string, check: (page: Page, name: string, onPhone: () => Promise<void>) => Promise<void>): void {
  for (const { environment, settings, models, screens } of GROUPS) {
    const names = screens.map(({ name }) => name).join(', ');
    test.describe(() => {
      if (environment) test.use({ environment });
      if (settings) test.use({ settings: async ({ upstream }, use) => use(settings(upstream)) });
      if (models) test.use({ models });
      test(`${names}: each ${what}`, async ({ browserLog, chat, page, parlor, upstream }) => {
        test.setTimeout(test.info().timeout * screens.length);
        const viewport = page.viewportSize()!;
        const stage = { browserLog, chat, page, parlor, upstream };
        for (const { name, prepare, onPhone } of screens) {
          await test.step(`${name} ${what}`, async () => {
            await page.setViewportSize(viewport);
            await page.emulateMedia({ colorScheme: 'light' });
            await prepare(stage);
            await check(page, name, async () => onPhone?.(stage));
          });
        }
      });
    });
  }
}
