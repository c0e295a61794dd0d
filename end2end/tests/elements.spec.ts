/**
 * The crate `elements` in a browser, on the page of `tests/elements-page`: once hydrated from what the server renders, once built by
 * the browser. What the server renders is Leptos's, for each step of the page.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { target } from '../support/program.ts';
import { expect, test } from '../support/test.ts';

const ORIGIN = 'http://elements.test';

/** The server's HTML for each step. */
const rendered = execFileSync(`${target}/debug/elements-page`, { encoding: 'utf8' }).trim().split('\n');

/** The functions of `tests/elements-page/src/browser.rs`. */
type ElementsPage = { build(): void; hydrate(): void; show(step: number): Promise<void> };

// No Parlor: the page is three files.
test.use({ baseURL: ORIGIN });

test.beforeEach(async ({ page }) => {
  await page.route(`${ORIGIN}/**`, (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path.endsWith('.js')) return route.fulfill({ contentType: 'text/javascript', path: `${target}/elements-page${path}` });
    if (path.endsWith('.wasm')) return route.fulfill({ contentType: 'application/wasm', path: `${target}/elements-page${path}` });
    if (path === '/favicon.ico') return route.fulfill({ status: 204 });
    const body = path === '/hydrate' ? rendered[0] : '';
    const style = '.scroller { height: 20px; overflow: auto } .scroller p { height: 200px }';
    return route.fulfill({ contentType: 'text/html', body: `<!DOCTYPE html><style>${style}</style><body>${body}</body>` });
  });
});

/** Opens the page and lets the WASM hydrate or build it. */
async function open(page: Page, start: 'hydrate' | 'build'): Promise<void> {
  await page.goto(`/${start}`);
  await page.evaluate(async (start) => {
    const script = '/elements-page.js';
    const elementsPage = await import(script);
    await elementsPage.default({ module_or_path: '/elements-page_bg.wasm' });
    elementsPage[start]();
    Object.assign(window, { elementsPage });
    await elementsPage.show(0);
  }, start);
}

/** Goes to a step, and waits until the page shows it. */
const show = (page: Page, step: number) =>
  page.evaluate((step) => (window as unknown as { elementsPage: ElementsPage }).elementsPage.show(step), step);

/** The nodes of each section, a line each. */
type Sections = Record<string, string[]>;

/**
 * The sections of the live page, or of HTML, without what has no meaning: comments (Leptos's marks), where a text is split, and the
 * order of attributes, classes and properties of style.
 */
const sections = (page: Page, html?: string): Promise<Sections> =>
  page.evaluate((html) => {
    const sorted = (text: string, separator: string) => text.split(separator).map((part) => part.trim()).filter(Boolean).sort().join(' ');
    const line = (element: Element): string => {
      const attributes = [...element.attributes].map(({ name, value }) => {
        if (name === 'class') value = sorted(value, ' ');
        if (name === 'style') value = sorted(value.replaceAll(': ', ':'), ';');
        return value === '' && ['class', 'style'].includes(name) ? '' : ` ${name}="${value}"`;
      });
      return `${element.namespaceURI?.replace(/.*\//, '')}:${element.localName}${attributes.sort().join('')}`;
    };
    const lines = (parent: Element, depth: string): string[] =>
      [...parent.childNodes].flatMap((node) =>
        node instanceof Element ? [depth + line(node), ...lines(node, `${depth}  `)] : [`${depth}"${node.textContent}"`],
      );
    const root = html === undefined ? document : new DOMParser().parseFromString(html, 'text/html');
    const all = [...root.querySelectorAll('section')].map((section) => {
      const copy = section.cloneNode(true) as Element;
      const comments = document.createNodeIterator(copy, NodeFilter.SHOW_COMMENT);
      for (let comment = comments.nextNode(); comment; comment = comments.nextNode()) (comment as Comment).remove();
      copy.normalize();
      return [section.id, lines(copy, '')];
    });
    return Object.fromEntries(all);
  }, html);

/** The sections whose views change. */
const CHANGING = /^(attributes|classes|styles|children)-|svg/;

/** The sections that are read once. */
const READ_ONCE = ['attributes', 'classes', 'styles', 'children'];

test('each step differs from the one before', async ({ page }) => {
  await page.goto('/');
  const steps = await Promise.all(rendered.map((html) => sections(page, html)));
  const ids = Object.keys(steps[0]!).filter((id) => CHANGING.test(id));
  expect(ids.length).toBeGreaterThan(8);
  for (const [step, now] of steps.slice(1).entries()) for (const id of ids) expect(now[id], `${id} ${step}`).not.toEqual(steps[step]![id]);
});

for (const start of ['hydrate', 'build'] as const) {
  test.describe(start, () => {
    test.beforeEach(async ({ browserLog, page }) => {
      // Leptos has a feature of its own for pages without a server.
      browserLog.allow(/you're trying to use Leptos in client-side rendering mode/);
      await open(page, start);
    });

    test('shows at each step what the server renders', async ({ page }) => {
      const first = await sections(page, rendered[0]);
      const once = Object.fromEntries(READ_ONCE.map((id) => [id, first[id]]));
      for (const step of [0, 1, 2, 3, 0, 2, 1, 3]) {
        await show(page, step);
        expect(await sections(page), `step ${step}`).toEqual({ ...(await sections(page, rendered[step])), ...once });
      }
    });

    test('sets properties, also over what was typed', async ({ page }) => {
      const values = async () => {
        const inputs = page.locator('#properties input');
        return inputs.evaluateAll((all) => (all as HTMLInputElement[]).map((input) => (input.type === 'checkbox' ? input.checked : input.value)));
      };
      expect(await values()).toEqual(['literal', 'owned 0', true, 'dynamic 0', 'a', true, 'rebuilt 0']);
      await show(page, 1);
      expect(await values()).toEqual(['literal', 'owned 0', true, 'dynamic 1', 'b', false, 'rebuilt 1']);
      for (const name of ['text', 'restored', 'rebuilt']) await page.locator(`#properties .${name}`).fill('typed');
      await show(page, 2);
      expect(await values()).toEqual(['typed', 'owned 0', true, 'dynamic 2', 'b', true, 'rebuilt 2']);
    });

    test('calls the handlers of events', async ({ page }) => {
      const section = page.locator('#events');
      const log = section.locator('.log');
      const expectLog = (...lines: string[]) => expect(log).toHaveText(['ready', ...lines].join(', '));
      await section.locator('.click').click();
      await expectLog('click');
      await section.locator('.input').fill('typed');
      await expectLog('click', 'typed');
      await section.locator('.capturing button').click();
      await expectLog('click', 'typed', 'captured', 'target', 'bubbled');
      await section.locator('.custom').dispatchEvent('ping');
      await section.locator('.context').click();
      await expectLog('click', 'typed', 'captured', 'target', 'bubbled', 'ping', 'from the view');
    });

    test('a view rendered again has new handlers only', async ({ page }) => {
      const section = page.locator('#events');
      for (const step of [0, 1, 2]) {
        await show(page, step);
        await section.locator('.rebuilt').click();
        await section.locator('.reading').click();
      }
      const lines = ['rebuilt 0', 'step 0', 'rebuilt 1', 'step 1', 'rebuilt 2', 'step 2'];
      await expect(section.locator('.log')).toHaveText(`ready, ${lines.join(', ')}`);
    });

    test('fills references with the elements shown', async ({ page }) => {
      const section = page.locator('#events');
      await section.locator('.references').click();
      await show(page, 2);
      await section.locator('.references').click();
      await expect(section.locator('.log')).toHaveText('ready, kept, exchanged-0, kept, exchanged-2');
    });

    test('a view rendered again keeps its elements', async ({ page }) => {
      const all = page.locator('[id$=-rebuilt] > :not(:has(b, li, i))');
      const before = await all.elementHandles();
      expect(before.length).toBeGreaterThan(20);
      await show(page, 1);
      for (const element of before) expect(await element.evaluate((node) => node.isConnected)).toBe(true);
    });

    test('keyed items keep their elements', async ({ page }) => {
      const items = page.locator('#children-dynamic li', { hasText: 'For' });
      await items.evaluateAll((all) => all.forEach((item) => item.setAttribute('data-was', item.textContent)));
      await show(page, 1);
      await expect(items).toHaveText(['For 3', 'For 1', 'For 2']);
      await show(page, 2);
      await show(page, 3);
      await expect(items).toHaveText(['For 2', 'For 5', 'For 4', 'For 1']);
      const was = await items.evaluateAll((all) => all.map((item) => item.getAttribute('data-was')));
      // The item 1 had left.
      expect(was).toEqual(['For 2', null, null, null]);
    });

    test('a view rendered again keeps what the user did', async ({ page }) => {
      const place = page.locator('#same-view');
      await change(place);
      await show(page, 1);
      expect(await changes(place)).toEqual({ open: true, scrolled: true, typed: 'typed' });
    });

    for (const id of ['branches', 'functions', 'components', 'inner', 'other-id', 'other-name']) {
      test(`another view begins anew: ${id}`, async ({ page }) => {
        const place = page.locator(`#${id}`);
        await change(place);
        await show(page, 1);
        expect(await changes(place)).toEqual({ open: false, scrolled: false, typed: '' });
      });
    }
  });
}

/** Does what an element keeps beside its attributes. */
async function change(place: Locator): Promise<void> {
  await place.locator('summary').click();
  await place.locator('.scroller').evaluate((element) => (element.scrollTop = 50));
  await place.locator('input').fill('typed');
  expect(await changes(place)).toEqual({ open: true, scrolled: true, typed: 'typed' });
}

const changes = async (place: Locator) => ({
  open: await place.locator('details').evaluate((element) => (element as HTMLDetailsElement).open),
  scrolled: (await place.locator('.scroller').evaluate((element) => element.scrollTop)) > 0,
  typed: await place.locator('input').inputValue(),
});
