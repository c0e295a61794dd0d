import { expect, type BrowserContext } from '@playwright/test';

/**
 * What the pages of a test complained about. Hydration that doesn't match what the server rendered shows only here, so
 * nothing may: a test fails at its end on any warning, error or uncaught exception that it didn't allow beforehand.
 */
export class BrowserLog {
  readonly #complaints: string[] = [];
  readonly #allowed: RegExp[] = [];

  /** With `faults`, the browser half may panic; else nothing that is allowed lets it. */
  constructor(readonly faults = false) {}

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
    const fault = /panicked at|RuntimeError|unreachable|[Hh]ydration error|call stack/;
    const isExpected = (complaint: string) =>
      fault.test(complaint) ? this.faults : this.#allowed.some((pattern) => pattern.test(complaint));
    const unexpected = this.#complaints.filter((complaint) => !isExpected(complaint));
    expect(unexpected, 'what the browser complained about').toEqual([]);
  }
}
