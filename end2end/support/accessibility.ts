import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** Expects no axe violations in the current page. */
export async function expectAccessible(page: Page): Promise<void> {
  // A running fade-in has a temporary contrast, so animations are finished. (Waiting could take
  // for ever: a scroll-driven animation never finishes.)
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
    }
  });
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.map((node) => node.html) }))).toEqual([]);
}
