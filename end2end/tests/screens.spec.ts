/** Every screen, in either theme. */
import { expectAccessible } from '../support/accessibility.ts';
import { eachScreen } from '../support/screens.ts';

eachScreen('is accessible', async (page) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
});
