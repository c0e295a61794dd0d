import { expect, type BrowserContext } from '@playwright/test';

/**
 * Console output and errors of a test's pages. Hydration mismatches show only here, so
 * a test fails at its end on any warning, error or uncaught exception that it did not allow beforehand.
 */
export class BrowserLog {
  readonly #complaints: string[] = [];
  readonly #allowed: RegExp[] = [];

  /** With `faults`, the browser code may panic; otherwise no allowance covers a panic. */
  constructor(readonly faults = false) {}

  /** Listens to all pages of the context, including later ones. */
  watch(context: BrowserContext): void {
    context.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      this.#complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => this.#complaints.push(`uncaught: ${error.error().stack ?? error.error().message}`));
  }

  /** For a test that kills the server or cuts the connection: browsers log each lost or failed connection. */
  allowLostConnections(): void {
    this.allow(/net::ERR_|Failed to fetch/);
  }

  /** For a test that provokes another message. */
  allow(pattern: RegExp): void {
    this.#allowed.push(pattern);
  }

  expectNothing(): void {
    const fault = /panicked at|RuntimeError|unreachable|closure invoked|[Hh]ydration error|call stack/;
    const isExpected = (complaint: string) =>
      fault.test(complaint) ? this.faults : this.#allowed.some((pattern) => pattern.test(complaint));
    const unexpected = this.#complaints.filter((complaint) => !isExpected(complaint));
    expect(unexpected, 'what the browser complained about').toEqual([]);
  }
}
