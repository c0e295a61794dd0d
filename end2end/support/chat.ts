import { expect, type Locator, type Page } from '@playwright/test';
import { expectSoon } from './poll.ts';

/** The page in one tab; elements are found by their accessible names. */
export class Chat {
  readonly message: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  /** The button that shows the chosen model. */
  readonly model: Locator;
  /** The models in a select list, on a page without scripts. */
  readonly plainModel: Locator;
  /** The title above the conversation. */
  readonly title: Locator;
  readonly messages: Locator;
  readonly questions: Locator;
  readonly answers: Locator;
  /** The error of an answer. */
  readonly problem: Locator;
  readonly list: Locator;
  /** The entries of the list, newest first. */
  readonly entries: Locator;
  /** The titles of the entries only. */
  readonly titles: Locator;
  readonly newChat: Locator;
  /** The confirmation of the deletion of a temporary chat. */
  readonly dialog: Locator;

  constructor(readonly page: Page) {
    this.message = page.getByRole('textbox', { name: 'Message', exact: true });
    this.send = page.getByRole('button', { name: 'Send', exact: true });
    this.stop = page.getByRole('button', { name: 'Stop', exact: true });
    this.model = page.getByRole('button', { name: /^Model: / });
    this.plainModel = page.getByRole('combobox', { name: 'Model' });
    this.title = page.getByRole('heading', { level: 1 });
    this.messages = page.getByRole('log');
    this.questions = page.getByRole('article', { name: 'You' });
    this.answers = page.getByRole('article', { name: 'Answer' });
    this.problem = this.answers.getByRole('group', { name: 'Problem' });
    this.list = page.getByRole('navigation', { name: 'Conversations' });
    this.entries = this.list.getByRole('listitem').getByRole('link');
    this.titles = this.entries.locator('.item-title');
    this.newChat = this.list.getByRole('link', { name: 'New chat' });
    this.dialog = page.getByRole('dialog', { name: 'Delete this temporary chat?' });
  }

  /** Opens a URL and waits until the page is interactive. */
  async open(path = '/'): Promise<void> {
    await this.page.goto(path);
    await this.ready();
  }

  /** The same on a touch screen, where nothing is focused, as a keyboard would cover the screen. */
  async openWithTouch(path = '/'): Promise<void> {
    await this.page.goto(path);
    await this.hydrated();
  }

  /** Waits until the page reacts. */
  async hydrated(): Promise<void> {
    const state = () => this.page.evaluate(() => document.documentElement.dataset.state);
    await expectSoon('the page is hydrated', state, 'started');
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** Waits for hydration, which focuses the message, and for the code of conversations: after that the connection may be cut. */
  async ready(): Promise<void> {
    const state = () =>
      this.page.evaluate(() => ({ page: document.documentElement.dataset.state, focus: document.activeElement?.id }));
    await expectSoon('the page is hydrated and the message is focused', state, { page: 'started', focus: 'message' });
    const loaded = () =>
      this.page.evaluate(() => {
        // A faked clock has no entries at all.
        if (performance.getEntriesByType('navigation').length === 0) return true;
        const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
        const done = entries.filter(({ responseEnd }) => responseEnd > 0).map(({ name }) => name.split('/').at(-1));
        return ['conversation_chunks.bin', 'split_conversation.wasm'].every((file) => done.includes(file));
      });
    await expectSoon('the code of conversations is loaded', loaded, true);
  }

  /** Chooses a model by typing its name. */
  async chooseModel(name: string): Promise<void> {
    await this.model.click();
    const field = this.page.getByRole('combobox', { name: 'Find a model' });
    await field.fill(name);
    await field.press('Enter');
    await expect(this.model).toHaveAccessibleName(`Model: ${name}`);
  }

  /** Sends a message with the keyboard. */
  async say(text: string): Promise<void> {
    await this.message.fill(text);
    await this.message.press('Enter');
    await expect(this.questions.last()).toContainText(text.trim());
  }

  /** Starts a conversation and returns its path. */
  async begin(text: string): Promise<string> {
    await this.newChat.click();
    await expect(this.title).toHaveText('New chat');
    await this.say(text);
    await this.page.waitForURL(({ pathname }) => pathname.startsWith('/c/'));
    return this.path;
  }

  get path(): string {
    return new URL(this.page.url()).pathname;
  }

  /** Waits until no answer is running. */
  async done(): Promise<void> {
    const state = () =>
      this.page.evaluate(() => {
        const isShown = (element?: Element | null) => !!element?.checkVisibility({ visibilityProperty: true });
        const answer = [...document.querySelectorAll('article[aria-label="Answer"]')].at(-1);
        return {
          send: isShown(document.querySelector('button[aria-label="Send"]')),
          regenerate: isShown(answer?.querySelector('button[aria-label="Regenerate"]')),
        };
      });
    await expectSoon('the last answer is finished: its buttons are shown', state, { send: true, regenerate: true });
  }

  entry(title: string): Locator {
    return this.list.getByRole('link', { name: title });
  }

  /** The button that opens the menu of a list entry. It appears on hover. */
  actions(title: string): Locator {
    return this.list.getByRole('button', { name: `Actions for “${title}”` });
  }

  /** Chooses an action of a list entry. */
  async press(action: 'Share' | 'Rename' | 'Delete' | 'Pin' | 'Unpin' | 'Archive' | 'Select' | 'Keep this chat', title: string): Promise<void> {
    await this.list.locator('.item', { has: this.page.getByRole('button', { name: `Actions for “${title}”` }) }).hover();
    await this.actions(title).click();
    await this.list.getByRole('menuitem', { name: action, exact: true }).click();
  }

  /** Adds something to the message, from the menu. */
  async add(what: 'Attach files' | 'Take a photo' | 'Search the web'): Promise<void> {
    await this.page.getByRole('button', { name: 'Add files or tools' }).click();
    await this.page.getByRole('menu', { name: 'Add to the message' }).getByText(what).click();
  }

  /** The button that shows how the model answers. */
  get effort(): Locator {
    return this.page.getByRole('button', { name: /^How the model answers/ });
  }

  /** Opens the dialog with all parameters of the model. */
  async openParameters(): Promise<void> {
    const has = await this.effort.getAttribute('aria-haspopup');
    await this.effort.click();
    if (has === 'menu') await this.page.getByRole('menuitem', { name: 'More settings…' }).click();
  }

  /** Opens a title for editing and waits until it is selected, so that typing replaces it. */
  async beginRenaming(title: string): Promise<void> {
    await this.press('Rename', title);
    await expect
      .poll(() => this.page.evaluate(() => {
        const field = document.activeElement;
        return field instanceof HTMLInputElement
          ? field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0)
          : null;
      }))
      .toBe(title);
  }

  /** A toast, which disappears by itself. */
  toast(text: string): Locator {
    return this.page.getByRole('status').getByText(text, { exact: true });
  }

  /** The button of the menu of the last answer. */
  get more(): Locator {
    return this.answers.last().locator('button[aria-haspopup=menu]');
  }

  /** Opens the diagnostics of the last answer. */
  async openDiagnostics(): Promise<void> {
    await this.more.click();
    await this.page.getByRole('menuitem', { name: 'Diagnostics' }).click();
  }

  /** Presses Tab until the element has the focus. */
  async tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const focused = () => target.evaluate((element) => element === document.activeElement);
    for (let presses = 0; presses < 50; presses++) {
      if (await focused()) return;
      await this.page.keyboard.press(key);
    }
    await expect(target, 'it can be reached with Tab').toBeFocused();
  }
}
