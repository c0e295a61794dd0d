import type { Locator, Page } from '@playwright/test';
import { placeArticles, pubmed } from './pubmed.ts';
import { test as base, expect } from './test.ts';

/** The page *Literature* in one tab; elements are found by their accessible names. */
export class Literature {
  readonly query: Locator;
  readonly entries: Locator;
  readonly filter: Locator;
  readonly streams: Locator;
  /** The chat tray. */
  readonly tray: Locator;
  readonly openTray: Locator;
  readonly message: Locator;
  readonly answers: Locator;

  constructor(readonly page: Page) {
    this.query = page.getByRole('searchbox', { name: 'Search PubMed' });
    this.entries = page.locator('.entries').getByRole('listitem');
    this.filter = page.getByRole('searchbox', { name: 'Find in what you saved' });
    this.streams = page.getByRole('navigation', { name: 'Streams' });
    this.tray = page.locator('.tray');
    this.openTray = page.getByRole('button', { name: 'Ask about this page' });
    this.message = page.getByRole('textbox', { name: 'Message', exact: true });
    this.answers = page.getByRole('article', { name: 'Answer' });
  }

  /** Opens a URL and waits until the page is interactive. */
  async open(path = '/literature'): Promise<void> {
    await this.page.goto(path);
    await this.ready();
  }

  async ready(): Promise<void> {
    await expect
      .poll(async () => {
        if (await this.tray.isVisible()) return true;
        await this.page.keyboard.press('Control+.');
        return this.tray.isVisible();
      })
      .toBe(true);
  }

  async search(query: string): Promise<void> {
    await this.query.fill(query);
    await this.query.press('Enter');
    await expect(this.entries.first()).toBeVisible();
  }

  entry(title: string): Locator {
    return this.page.getByRole('link', { name: title });
  }

  save(title: string): Locator {
    return this.page.getByRole('button', { name: new RegExp(`^Saved? “${title}`) });
  }

  tab(name: 'Search' | 'Saved'): Locator {
    return this.page.getByRole('navigation', { name: 'Literature' }).getByRole('link', { name });
  }

  async ask(text: string): Promise<void> {
    await this.message.fill(text);
    await this.message.press('Enter');
    await expect(this.page.getByRole('article', { name: 'You' }).last()).toContainText(text);
  }
}

/** `test` with a PubMed that has some articles and a model with an answer about them. */
export const test = base.extend<{ literature: Literature }>({
  settings: async ({ upstream }, use) => use(pubmed(upstream)),
  literature: async ({ page, upstream }, use) => {
    await placeArticles(upstream);
    await upstream.script({ steps: [{ text: 'It is about tides.' }] });
    await use(new Literature(page));
  },
});

export { expect };
