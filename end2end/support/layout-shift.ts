import type { Page } from '@playwright/test';

/** Starts to record layout shifts of the page, also those right after input. */
export async function recordLayoutShifts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const shifts: string[] = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as any[]) {
        // The caret moves with the words, and the line below an answer moves down as the answer grows.
        const isMeantToMove = (node?: Element) => node?.nodeName === '::after' || node?.closest?.('.message-foot');
        const sources = entry.sources.filter(({ node }: any) => !isMeantToMove(node));
        if (sources.length === 0) continue;
        // Less than a pixel of an element that was replaced at once.
        if (entry.value < 0.00005 && sources.every(({ node }: any) => !node)) continue;
        const nodes = sources.map(({ node }: any) => node?.outerHTML?.slice(0, 80) ?? node?.textContent);
        shifts.push(`${entry.value.toFixed(4)}: ${nodes.join(' | ')}`);
      }
    }).observe({ type: 'layout-shift', buffered: false });
    (window as any).layoutShifts = shifts;
  });
}

/** The layout shifts since `recordLayoutShifts`. */
export function layoutShifts(page: Page): Promise<string[]> {
  return page.evaluate(() => (window as any).layoutShifts);
}
