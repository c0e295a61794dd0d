import type { Page } from '@playwright/test';

/**
 * Takes screenshots: light, dark and phone. Does nothing unless `PARLOR_SCREENSHOTS` names a folder:
 * `PARLOR_SCREENSHOTS=/tmp/shots make test-e2e`.
 */
export async function screenshots(page: Page, name: string): Promise<void> {
  const folder = process.env.PARLOR_SCREENSHOTS;
  if (!folder) return;
  const desktop = page.viewportSize() ?? { width: 1280, height: 720 };
  const take = (kind: string) => page.screenshot({ path: `${folder}/${name}-${kind}.png`, animations: 'disabled' });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await take(colorScheme);
    await page.setViewportSize({ width: 390, height: 844 });
    await take(`phone-${colorScheme}`);
    await page.setViewportSize(desktop);
  }
  await page.emulateMedia({ colorScheme: null });
}
