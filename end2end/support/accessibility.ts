import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** No violation that axe can see in the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // What is still fading in has the contrast of a moment.
  await page.evaluate(() => {
    const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
    return Promise.allSettled(ending.map((one) => one.finished));
  });
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.map((node) => node.html) }))).toEqual([]);
}
