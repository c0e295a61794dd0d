import { expect, type BrowserContext } from '@playwright/test';

/**
 * What the pages of a test complained about. Hydration that doesn't match what the server rendered shows only here, so
 * nothing may: a test fails at its end on any warning, error or uncaught exception that it didn't allow beforehand.
 */
export class BrowserLog {
  readonly #complaints: string[] = [];
  readonly #allowed: RegExp[] = [];

  /** Listens to all pages of the context, later ones as well. */
  watch(context: BrowserContext): void {
    context.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      this.#complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => this.#complaints.push(`uncaught: ${error.error().stack ?? error.error().message}`));
  }

  /** For a test that kills the server or cuts the line: browsers log each connection that they lose or can't make. */
  allowLostConnections(): void {
    this.allow(/net::ERR_|Failed to fetch/);
  }

  /** For a test that provokes another complaint. */
  allow(pattern: RegExp): void {
    this.#allowed.push(pattern);
  }

  expectNothing(): void {
    const unexpected = this.#complaints.filter((complaint) => !this.#allowed.some((pattern) => pattern.test(complaint)));
    expect(unexpected, 'what the browser complained about').toEqual([]);
  }
}
