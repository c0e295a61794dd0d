import { expect, type Locator, type Page } from '@playwright/test';

/** Parlor in one tab, by the names that a person or a screen reader knows its parts by. */
export class Chat {
  readonly message: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  readonly model: Locator;
  /** The conversation's title, above it. */
  readonly title: Locator;
  readonly messages: Locator;
  readonly questions: Locator;
  readonly answers: Locator;
  /** What went wrong with an answer. */
  readonly problem: Locator;
  readonly list: Locator;
  /** The list's entries, newest first. */
  readonly entries: Locator;
  /** Their titles, without what else is said of them. */
  readonly titles: Locator;
  readonly newChat: Locator;
  /** The question before something is deleted. */
  readonly dialog: Locator;

  constructor(readonly page: Page) {
    this.message = page.getByRole('textbox', { name: 'Message', exact: true });
    this.send = page.getByRole('button', { name: 'Send', exact: true });
    this.stop = page.getByRole('button', { name: 'Stop', exact: true });
    this.model = page.getByRole('combobox', { name: 'Model' });
    this.title = page.getByRole('heading', { level: 1 });
    this.messages = page.getByRole('log');
    this.questions = page.getByRole('article', { name: 'You' });
    this.answers = page.getByRole('article', { name: 'Answer' });
    this.problem = this.answers.getByRole('group', { name: 'Problem' });
    this.list = page.getByRole('navigation', { name: 'Conversations' });
    this.entries = this.list.getByRole('listitem').getByRole('link');
    this.titles = this.entries.locator('.item-title');
    this.newChat = this.list.getByRole('link', { name: 'New chat' });
    this.dialog = page.getByRole('dialog', { name: 'Delete this conversation?' });
  }

  /** Opens an address and waits until the page answers to a person. */
  async open(path = '/'): Promise<void> {
    await this.page.goto(path);
    await this.ready();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** The focus comes to the message when the browser has taken the page over, not before. */
  async ready(): Promise<void> {
    await expect(this.message).toBeFocused();
  }

  /** Sends a message with the keyboard. */
  async say(text: string): Promise<void> {
    await this.message.fill(text);
    await this.message.press('Enter');
    await expect(this.questions.last()).toContainText(text.trim());
  }

  /** Begins a conversation and returns its path. */
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

  /** The answer is whole: nothing is being said any more. */
  async done(): Promise<void> {
    await expect(this.send).toBeVisible();
    await expect(this.answers.last().getByRole('button', { name: 'Regenerate' })).toBeVisible();
  }

  entry(title: string): Locator {
    return this.list.getByRole('link', { name: title });
  }

  /** A button at an entry of the list; they come with the pointer. */
  async press(action: 'Rename' | 'Delete', title: string): Promise<void> {
    await this.entry(title).hover();
    await this.list.getByRole('button', { name: `${action} “${title}”` }).click();
  }

  /** Opens a title as a field, and waits until all of it is selected: what is typed then takes its place. */
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

  /** A short note, which goes by itself. */
  toast(text: string): Locator {
    return this.page.getByRole('status').getByText(text, { exact: true });
  }

  /** Walks with Tab until something has the focus, as somebody without a pointer does. */
  async tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const focused = () => target.evaluate((element) => element === document.activeElement);
    for (let presses = 0; presses < 50; presses++) {
      if (await focused()) return;
      await this.page.keyboard.press(key);
    }
    await expect(target, 'it can be reached with Tab').toBeFocused();
  }
}
