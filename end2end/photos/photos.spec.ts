/** `make photos`: each screen in light and dark, at four widths, in `target/photos`. To be looked at, never compared. */
import { fileURLToPath } from 'node:url';
import { eachScreen } from '../support/screens.ts';

const folder = fileURLToPath(new URL('../../target/photos', import.meta.url));
const SIZES = [[1280, 800], [768, 1024], [390, 844], [320, 700]] as const;

eachScreen('is photographed', async (page, name) => {
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, animations: 'disabled', fullPage: name === 'design' });
    }
  }
});
