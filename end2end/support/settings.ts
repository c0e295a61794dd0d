import type { Locator, Page } from '@playwright/test';

/** The settings page in one tab. */
export class Settings {
  readonly region: Locator;
  readonly back: Locator;
  /** The link from a tab to the list of tabs, on a phone. */
  readonly up: Locator;
  readonly instructions: Locator;
  readonly save: Locator;
  /** The state of the text in the box. */
  readonly note: Locator;
  readonly memories: Locator;
  readonly tokens: Locator;
  readonly search: Locator;
  /** A newly created token. */
  readonly made: Locator;

  constructor(readonly page: Page) {
    this.region = page.getByRole('region', { name: 'Settings' });
    this.back = this.region.getByRole('link', { name: 'Back' });
    this.up = this.region.getByRole('link', { name: 'Settings', exact: true });
    this.instructions = page.getByRole('textbox', { name: 'Instructions' });
    this.save = page.getByRole('button', { name: 'Save', exact: true });
    this.note = page.locator('#instructions-note');
    this.memories = page.getByRole('region', { name: 'Memories' }).getByRole('listitem');
    this.tokens = page.getByRole('region', { name: 'API tokens' }).getByRole('listitem');
    this.search = page.getByRole('searchbox', { name: 'Search memories' });
    this.made = page.getByRole('group', { name: 'Your new token' });
  }

  /** Opens a tab by its URL and waits until it is hydrated and follows the event stream. */
  async open(path = '/settings'): Promise<void> {
    await Promise.all([this.page.waitForRequest('**/rpc/events?*'), this.page.goto(path)]);
  }

  /** The link to a tab. */
  tab(name: string): Locator {
    return this.page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name, exact: true });
  }

  /** The choice of a theme on the page. */
  theme(name: string): Locator {
    return this.region.getByRole('radio', { name });
  }

  async reload(): Promise<void> {
    await Promise.all([this.page.waitForRequest('**/rpc/events?*'), this.page.reload()]);
  }

  /** Creates a token and returns it. */
  async makeToken(name: string, span = 'It does not expire'): Promise<string> {
    await this.page.getByRole('textbox', { name: 'Name' }).fill(name);
    await this.page.getByRole('combobox', { name: 'How long it lasts' }).selectOption(span);
    await this.page.getByRole('button', { name: 'Make a token' }).click();
    return (await this.made.locator('code').textContent()) ?? '';
  }
}
