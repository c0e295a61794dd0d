/** The parts of every screen. */
import type { Page } from '@playwright/test';
import type { BrowserLog } from '../browser-log.ts';
import type { Chat } from '../chat.ts';
import type { Parlor } from '../parlor.ts';
import type { Model, Upstream } from '../upstream.ts';

export type Stage = { chat: Chat; page: Page; parlor: Parlor; upstream: Upstream; browserLog: BrowserLog };

/** Screens of one server and one page, in this order. */
export type ScreenGroup = {
  environment?: NodeJS.ProcessEnv;
  settings?: (upstream: Upstream) => string;
  models?: Model[];
  screens: Screen[];
};

export type Screen = {
  name: string;
  /** Brings the page from the screen before to this one. */
  prepare: (stage: Stage) => Promise<void>;
  /** Brings it back once the window has become as narrow as a phone's: what floats closes then, or covers the page. */
  onPhone?: (stage: Stage) => Promise<void>;
};

/** Asks a question and waits for the scripted answer. */
export async function answered({ chat, upstream }: Stage, question: string, ...steps: Record<string, unknown>[]): Promise<void> {
  await upstream.script({ when: { user_contains: question }, steps });
  await chat.open();
  await chat.begin(question);
  await chat.done();
}
