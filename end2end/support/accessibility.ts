import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** No violation that axe can see in the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // What is still fading in has the contrast of a moment: it is taken to its end. (Waiting for it could take
  // for ever: an animation that scrolling drives never finishes.)
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
    }
  });
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.map((node) => node.html) }))).toEqual([]);
}
