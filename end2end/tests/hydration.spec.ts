import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { runConversation } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

test('titles are escaped in the page head', async ({ chat, page, parlor, request }) => {
  const title = 'Why does </title><meta http-equiv=refresh content="0;url=https://evil.example/"> & &amp; end it?';
  const path = await runConversation(parlor.url, 'Hello');
  await request.patch(`/api${path.replace('/c/', '/conversations/')}`, { data: { title }, headers: { origin: parlor.url } });
  const html = await (await request.get(path)).text();
  const head = html.slice(0, html.indexOf('</head>'));
  expect(head).toContain('<title>Why does &lt;/title&gt;&lt;meta http-equiv=refresh');
  expect(head).not.toContain('<meta http-equiv');
  await chat.open(path);
  await expect(page).toHaveTitle(`${title} · Parlor`);
  await expect(chat.title).toHaveText(title);
  await chat.newChat.click();
  await expect(page).toHaveTitle('Parlor');
  await chat.entry('Why does').click();
  await expect(page).toHaveTitle(`${title} · Parlor`);
  await chat.reload();
  await expect(page).toHaveTitle(`${title} · Parlor`);
});

test('hydrates after a first message with </title>', async ({ chat, page }) => {
  await chat.open();
  await chat.begin('Why does </title> end the title?');
  await chat.done();
  await chat.reload();
  await expect(page).toHaveTitle(/^Why does <\/title> end the.* · Parlor$/);
  await chat.say('And </script>?');
  await chat.done();
});

test('tool input is unchanged after a reload', async ({ chat, context, page, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  // As JSON this is shorter than its initial excerpt; with each `<` as `\u003c` it would be longer.
  const content = `${'<li>item</li>'.repeat(250)}${'x'.repeat(15)}`;
  const input = JSON.stringify({ expression: '1 + 1', content });
  await upstream.script({ when: { tool_gave: '2' }, steps: [{ text: 'Done' }] });
  await upstream.script({ when: { user_contains: 'Write' }, steps: [{ tool_call: { id: 'call_1', name: 'calculate', arguments: input } }], times: 1 });
  await chat.open();
  await chat.begin('Write');
  await expect(chat.answers.last()).toBeVisible();
  await chat.done();
  await chat.reload();
  const card = chat.answers.locator('.tool').first();
  await card.locator('summary').click();
  await expect(card.locator('.tool-part').getByText('<li>item</li>').first()).toBeVisible();
  await card.locator('.tool-part', { hasText: 'Asked' }).getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(content);
});

test('hydrates texts of characters that parsers drop', async ({ chat, parlor }) => {
  const path = await runConversation(parlor.url, '\u0000');
  await chat.open(path);
  await chat.say('¬ \u0001 \u2028 &#0; ]]> <!-- \r\n');
  await chat.reload();
  await expect(chat.questions).toHaveCount(2);
});

/** Damages the page's HTML in transit, like an extension or a proxy. */
async function damage(page: Page, how: (html: string) => string): Promise<{ times: number }> {
  const count = { times: 0 };
  await page.route(/\/(c\/[^?]*)?$/, async (route) => {
    if (route.request().resourceType() !== 'document') return route.fallback();
    count.times++;
    const response = await route.fetch();
    await route.fulfill({ response, body: how(await response.text()) });
  });
  return count;
}

/** A text where the browser code expects an element. */
const withStrayText = (html: string): string => html.replace('<main ', 'stray<main ');

test.describe('a page that cannot start', () => {
  test.use({ faults: true });

  test('becomes a plain page for reading and sending', async ({ chat, page, parlor }) => {
    const path = await runConversation(parlor.url, 'First');
    const loaded = await damage(page, withStrayText);
    await page.goto(path);
    const notice = page.getByRole('alert').filter({ hasText: 'This page could not start' });
    await expect(notice).toBeVisible();
    expect(new URL(page.url()).pathname).toBe(path);
    await expect(chat.questions).toContainText('First');
    // Controls without a function are hidden.
    await expect(page.getByRole('button', { name: 'Copy' })).toHaveCount(0);
    expect(loaded.times).toBe(1);
    await chat.message.fill('Second');
    await chat.send.click();
    // The target of a redirect is not damaged, so that page starts.
    await chat.ready();
    await expect(page).toHaveURL(path);
    await expect(notice).toBeHidden();
    await expect(chat.questions).toHaveText([/First/, /Second/]);
    await expect(chat.message).toHaveValue('');
  });

  test('keeps the unsent text', async ({ chat, page, parlor }) => {
    const path = await runConversation(parlor.url, 'First');
    let start = () => {};
    const written = new Promise<void>((resolve) => (start = resolve));
    await damage(page, withStrayText);
    await page.route(/\.wasm$/, async (route) => {
      await written;
      await route.fallback();
    });
    await page.goto(path, { waitUntil: 'commit' });
    await chat.message.fill('Half a thought');
    start();
    const notice = page.getByRole('alert').filter({ hasText: 'This page could not start' });
    await expect(notice).toBeVisible();
    await expect(chat.message).toHaveValue('Half a thought');
    await chat.message.fill('A whole thought');
    await page.unrouteAll();
    await notice.getByRole('link', { name: 'Try again' }).click();
    await chat.ready();
    await expect(chat.message).toHaveValue('A whole thought');
  });

  test('becomes the plain page when its data is damaged', async ({ page, parlor }) => {
    const path = await runConversation(parlor.url, 'First');
    const loaded = await damage(page, (html) => html.replace(/(__RESOLVED_RESOURCES\[\d+\] = ")./, '$1}'));
    await page.goto(path);
    await expect(page.getByRole('alert').filter({ hasText: 'This page could not start' })).toBeVisible();
    expect(loaded.times).toBe(1);
  });

  test('becomes the plain page after any start error', async ({ browserLog, page, parlor }) => {
    browserLog.allow(/Cannot read properties of null|was preloaded/);
    const path = await runConversation(parlor.url, 'First');
    await page.route(/\/parlor[^/]*\.js$/, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'export default async () => {}; export const hydrate = () => null.x;' }),
    );
    const plain = page.waitForURL(/[?&]plain/);
    await page.goto(path);
    await plain;
    await expect(page.getByRole('alert').filter({ hasText: 'This page could not start' })).toBeVisible();
  });

  test('stops only on engine errors, under any browser’s name', async ({ chat, page }) => {
    await chat.open();
    const notice = page.getByRole('alert').filter({ hasText: 'This page has stopped working' });
    const raise = (name: string, message: string) =>
      page.evaluate(([name, message]) => {
        const error = Object.assign(new Error(message), { name });
        dispatchEvent(new ErrorEvent('error', { error, message: `Uncaught ${name}: ${message}` }));
      }, [name, message]);
    await raise('RangeError', 'Invalid time value');
    await raise('TypeError', 'x is undefined');
    await page.evaluate(() => dispatchEvent(new ErrorEvent('error', { error: null })));
    await expect(notice).toBeHidden();
    await raise('InternalError', 'too much recursion');
    await expect(notice).toBeVisible();
  });

  test('says so when it fails later', async ({ chat, page }) => {
    await chat.open();
    await page.evaluate(() => {
      // A module that traps: (module (func (export "f") unreachable)).
      const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11];
      const { f } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes))).exports;
      setTimeout(f as () => void);
    });
    const notice = page.getByRole('alert').filter({ hasText: 'This page has stopped working' });
    await expect(notice).toBeVisible();
    await notice.getByRole('link', { name: 'Reload' }).click();
    await chat.ready();
    await expect(notice).toBeHidden();
  });
});

test('pages without their code stay readable', async ({ browserLog, chat, page, parlor }) => {
  browserLog.allowLostConnections();
  const path = await runConversation(parlor.url, 'First');
  await page.route(/\/parlor[^/]*\.wasm$/, (route) => route.abort());
  await page.goto(path);
  await expect(page.getByRole('alert').filter({ hasText: 'This page could not start' })).toBeVisible();
  await expect(chat.questions).toContainText('First');
  await chat.message.fill('Second');
  await chat.send.click();
  await expect(chat.questions).toHaveText([/First/, /Second/]);
});

test.describe('before its code is there', () => {
  /** Opens a conversation whose code arrives when the returned function is called. */
  async function openSlowly(page: Page, parlor: { url: string }): Promise<() => void> {
    const path = await runConversation(parlor.url, 'First');
    let start = () => {};
    const started = new Promise<void>((resolve) => (start = resolve));
    await page.route(/\.wasm$/, async (route) => {
      await started;
      await route.fallback();
    });
    await page.goto(path, { waitUntil: 'commit' });
    return start;
  }

  test.beforeEach(({ browserLog }) => browserLog.allow(/was preloaded/));

  test('a pressed button waits', async ({ chat, page, parlor }) => {
    const start = await openSlowly(page, parlor);
    await chat.answers.hover();
    await chat.answers.getByRole('button', { name: 'Answer with another model' }).click();
    const dialog = page.getByRole('combobox', { name: 'Find a model' });
    await expect(dialog).toBeHidden();
    start();
    await expect(dialog).toBeVisible();
    await chat.reload();
    await expect(dialog, 'it is not remembered').toBeHidden();
  });

  test('a menu gets its items later', async ({ chat, page, parlor }) => {
    const start = await openSlowly(page, parlor);
    await chat.answers.hover();
    await chat.answers.getByRole('button', { name: 'More', exact: true }).click();
    start();
    await expect(page.getByRole('menu', { name: 'More' }).getByRole('menuitem').first()).toBeFocused();
  });

  test('typing cancels a press', async ({ chat, page, parlor }) => {
    const start = await openSlowly(page, parlor);
    // It works at once, unlike those whose code is loaded.
    await page.getByRole('button', { name: 'Hide the list' }).click();
    await chat.message.focus();
    await page.keyboard.type('Second');
    start();
    await chat.ready();
    await expect(chat.message).toHaveValue('Second');
    await expect(chat.message).toBeFocused();
    await expect(chat.list).toBeVisible();
  });

  test('Enter sends', async ({ chat, page, parlor }) => {
    const start = await openSlowly(page, parlor);
    await chat.message.click();
    await page.keyboard.type('Second');
    await page.keyboard.press('Enter');
    await expect(chat.questions).toHaveText([/First/, /Second/]);
    start();
    await chat.ready();
    await expect(chat.message).toHaveValue('');
  });
});

test.describe('with answers that repeat themselves', () => {
  test.use({ environment: { PARLOR_CONFIG: fileURLToPath(new URL('../support/repeating.toml', import.meta.url)) } });

  test('very long answers are rendered in pieces', async ({ chat, context, page, parlor, request, upstream }) => {
    test.slow();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    // More than one page; the benchmark opens the largest ones.
    const length = 2 * 1024 * 1024;
    // Others are rendered in Rust (`ui::tests::pieces`).
    const shapes: [string, string][] = [
      ['prose', 'word '],
      ['code', 'let a = 1;\n'],
    ];
    for (const [name, piece] of shapes) {
      const begins = name === 'code' ? '```\n' : '';
      const text = (begins + piece.repeat(Math.ceil(length / piece.length))).slice(0, length);
      const chunks = Array.from({ length: Math.ceil(length / 500_000) }, (_, at) => ({ text: text.slice(at * 500_000, (at + 1) * 500_000) }));
      await upstream.script({ when: { user_contains: name }, steps: chunks });
      const path = await runConversation(parlor.url, name);
      const html = await (await request.get(path)).text();
      const shown = html.replace(/<script[^]*?<\/script>/g, '');
      expect(shown.length, `${name}: bytes of HTML`).toBeLessThan(2_000_000);
      expect(shown.match(/<[a-z]/g)!.length, `${name}: elements`).toBeLessThan(5000);
      await chat.open(path);
      const answer = chat.answers.last();
      const before = await answer.evaluate((element) => element.textContent!.length);
      await answer.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(() => answer.evaluate((element) => element.textContent!.length), `${name}: more`).toBeGreaterThan(before * 1.5);
      await answer.getByRole('button', { name: 'Copy', exact: true }).click();
      await expect.poll(() => page.evaluate(async () => (await navigator.clipboard.readText()).length), `${name}: copied`).toBe(text.length);
      if (name === 'code') {
        await answer.getByRole('button', { name: 'Copy code' }).click();
        await expect.poll(() => page.evaluate(async () => (await navigator.clipboard.readText()).length)).toBe(text.length - begins.length);
      }
    }
  });
});
