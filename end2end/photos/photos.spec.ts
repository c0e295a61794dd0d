/**
 * `make photos`: each screen in light and dark, at five widths, and in the system's own colours (`forced`), in `target/photos`. To be looked
 * at, never compared.
 */
import type { Page } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import { eachScreen } from '../support/screens.ts';

const folder = fileURLToPath(new URL('../../target/photos', import.meta.url));

/** CSS pixels. 640 × 400 is what 200 % zoom leaves of 1280 × 800. */
const WIDE = [[1280, 800], [768, 1024]] as const;
const NARROW = [[640, 400], [390, 844], [320, 700]] as const;

eachScreen('is photographed', async (page, name, onPhone) => {
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await photograph(page, name, '1280-forced');
  await page.emulateMedia({ forcedColors: 'none' });
  await photographInSizes(page, name, WIDE);
  await page.setViewportSize({ width: NARROW[0][0], height: NARROW[0][1] });
  await onPhone();
  await photographInSizes(page, name, NARROW);
});

async function photographInSizes(page: Page, name: string, sizes: readonly (readonly [number, number])[]): Promise<void> {
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await photograph(page, name, `${width}-${colorScheme}`);
    }
  }
}

async function photograph(page: Page, name: string, variant: string): Promise<void> {
  await page.screenshot({ path: `${folder}/${name}-${variant}.png`, animations: 'disabled', fullPage: name === 'design' });
}
