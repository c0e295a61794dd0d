import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** The rules whose result depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Rules that axe does not apply by itself: of WCAG 2.2, and one that it calls experimental. */
const STRICT_RULES = { 'target-size': { enabled: true }, 'label-content-name-mismatch': { enabled: true } };

/** Only violations are read. No rule that is applied reads style sheets or media, which axe would load otherwise. */
const OPTIONS = { resultTypes: ['violations' as const], preload: false };

/** Expects no axe violations in the current page, in its current theme. */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolations(page, new AxeBuilder({ page }).options({ ...OPTIONS, rules: STRICT_RULES }));
}

/** Expects no axe violations in the current page, in either theme. Leaves it light. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoViolations(page, new AxeBuilder({ page }).options({ ...OPTIONS }).withRules(COLOUR_RULES));
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page);
}

async function expectNoViolations(page: Page, axe: AxeBuilder): Promise<void> {
  // A running fade-in has a temporary contrast, so animations are finished. (Waiting could take
  // for ever: a scroll-driven animation never finishes.)
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
    }
  });
  // Otherwise the results are put together in another page, which takes as long as the analysis. That is needed for
  // frames of other origins, of which Parlor's pages have none but previews of what an answer wrote.
  const { violations } = await axe.setLegacyMode().analyze();
  expect(violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.map((node) => node.html) }))).toEqual([]);
}
