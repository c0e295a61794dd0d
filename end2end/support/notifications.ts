/** The system's notifications, recorded, and the switch in the settings. */
import { type BrowserContext, expect, type Locator, type Page } from '@playwright/test';

export type Shown = { title: string; body: string; press: () => void };
type Recorded = { asked: number; shown: Shown[]; permission: NotificationPermission; answer: NotificationPermission };

/** Replaces the system's notifications by a recorder. `answer` is the user's answer to the permission prompt. */
export async function record(context: BrowserContext, permission: NotificationPermission, answer: NotificationPermission = 'granted') {
  const begin = ([permission, answer]: NotificationPermission[]) => {
    // Frames of other origins have no storage.
    if (location.protocol !== 'http:') return;
    const kept = sessionStorage.getItem('permission') as NotificationPermission | null;
    const recorded: Recorded = { asked: 0, shown: [], permission: kept ?? permission!, answer: answer! };
    Object.assign(window, {
      recorded,
      Notification: class {
        onclick?: () => void;
        static get permission() {
          return recorded.permission;
        }
        static async requestPermission() {
          recorded.asked++;
          recorded.permission = recorded.answer;
          sessionStorage.setItem('permission', recorded.answer);
          return recorded.answer;
        }
        constructor(title: string, options?: NotificationOptions) {
          if (recorded.permission !== 'granted') return;
          recorded.shown.push({ title, body: options?.body ?? '', press: () => this.onclick?.() });
        }
        close() {}
      },
    });
  };
  await context.addInitScript(begin, [permission, answer]);
}

export const shown = (page: Page) => page.evaluate(() => (window as any).recorded.shown.map(({ title, body }: Shown) => ({ title, body })));
export const asked = (page: Page) => page.evaluate(() => (window as any).recorded.asked as number);
export const bell = (page: Page): Locator => page.getByRole('switch', { name: 'Notify me when a long answer is finished' });

/** Presses the switch in the settings, and goes back. */
export async function press(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click();
  await bell(page).click();
  await page.getByRole('link', { name: 'Back' }).click();
  await expect(bell(page)).toHaveCount(0);
}
