import type { BrowserContext, Page, Request, Route } from '@playwright/test';

/** The requests of pages to the server. */
export class Requests {
  readonly #made: Request[] = [];
  readonly #underway = new Set<Request>();

  constructor(of: Page | BrowserContext) {
    const over = (request: Request) => this.#underway.delete(request);
    of.on('request', (request: Request) => {
      this.#made.push(request);
      this.#underway.add(request);
    });
    of.on('requestfinished', over);
    of.on('requestfailed', over);
  }

  /** The number of requests so far. */
  made(path: string): number {
    return this.#made.filter(is(path)).length;
  }

  /** The number of open requests. */
  open(path: string): number {
    return [...this.#underway].filter(is(path)).length;
  }

  /** The URLs of open requests to other paths. */
  openExcept(path: string): string[] {
    return [...this.#underway].filter((request) => !is(path)(request)).map((request) => request.url());
  }
}

/**
 * Handles the first request to a URL; the others reach the server. The route stays, other than with `times: 1`:
 * requests that are under way when the last route is removed may stay without a response in Chromium.
 */
export async function routeOnce(page: Page, url: string, handle: (route: Route) => unknown): Promise<void> {
  let isHandled = false;
  await page.route(url, (route) => {
    if (isHandled) return route.fallback();
    isHandled = true;
    return handle(route);
  });
}

function is(path: string): (request: Request) => boolean {
  return (request) => new URL(request.url()).pathname === path;
}
