import { writeFile } from 'node:fs/promises';
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { callTool, mcpSettings } from '../support/mcp.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

// No requests leave this machine.
test.use({ settings: `${mcpSettings('never')}\n[tools.pubmed]\nbase_url = "http://127.0.0.1:1/eutils"` });

const asks = (name: string, input: unknown) => ({
  steps: [{ text: 'Let me see.' }, { tool_call: { id: 'call_1', name, arguments: JSON.stringify(input) } }],
});

const done = { when: { tool_gave: '' }, steps: [{ text: 'That is all.' }] };

test('a card shows the progress of its tool', async ({ chat, page, upstream }, testInfo) => {
  const file = testInfo.outputPath('go-on');
  await upstream.script(callTool('desk_hold', file));
  await upstream.script(done);
  await chat.open();
  await chat.begin('Read it all');
  const card = chat.answers.locator('.tool');
  for (const look of ['live', 'after a reload']) {
    if (look !== 'live') await page.reload();
    await expect(card.getByRole('progressbar'), look).toHaveAttribute('value', '50');
    await expect(card.getByText('Read 5 of 10 pages')).toBeVisible();
    await expect(card.locator('summary')).toContainText('Calling hold');
  }
  await screenshots(page, 'tool-progress');
  await writeFile(file, '');
  await chat.done();
  await expect(card.locator('summary')).toContainText('Called hold');
  await expect(card.getByText('Done:')).toBeAttached();
  await expect(card.getByRole('progressbar')).toHaveCount(0);
  await expect(card).not.toContainText('Read 5 of 10 pages');
});

test('each kind of tool has its icon, live and from the server', async ({ chat, upstream }) => {
  const icons: (string | null)[] = [];
  for (const [name, input] of [
    ['current_time', { time_zone: 'Asia/Tokyo' }],
    ['calculate', { expression: '6 * 7' }],
    ['desk_echo', { text: 'x' }],
  ] as const) {
    await upstream.script({ when: { user_contains: name }, ...asks(name, input) });
    await upstream.script(done);
    await chat.open();
    await chat.begin(`Use ${name}`);
    await chat.done();
    const icon = chat.answers.locator('.tool summary > .icon path');
    const live = await icon.getAttribute('d');
    await chat.reload();
    expect(await icon.getAttribute('d')).toBe(live);
    icons.push(live);
  }
  expect(new Set(icons).size).toBe(3);
});

test('input is highlighted and copied unchanged', async ({ chat, page, context, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const query = "SELECT name FROM people -- all\nWHERE age > 40";
  await upstream.script(asks('desk_echo', { query, limit: 2.5, text: '{"found": [1, null]}' }));
  await upstream.script(done);
  await chat.open();
  await chat.begin('Who is older than that?');
  await chat.done();
  const card = chat.answers.locator('.tool');
  const code = (heading: string) => card.locator('.tool-part', { has: page.getByRole('heading', { name: heading }) });
  for (const look of ['live', 'after a reload']) {
    if (look !== 'live') await chat.reload();
    await card.locator('summary').click();
    await expect(code('Query').locator('code'), look).toHaveText(query);
    await expect(code('Query').locator('.hl-keyword')).toHaveText(['SELECT', 'FROM', 'WHERE']);
    await expect(code('Query').locator('.hl-comment')).toHaveText('-- all');
    await expect(code('Asked').getByRole('definition')).toHaveText(['2.5', '{"found": [1, null]}']);
    await code('Asked').getByRole('button', { name: 'JSON' }).click();
    await expect(code('Asked').locator('code')).toHaveText('{\n  "limit": 2.5,\n  "text": "{\\"found\\": [1, null]}"\n}');
    await expect(code('Asked').locator('.hl-name')).toHaveText(['"limit"', '"text"']);
    await expect(code('Result').locator('.hl-keyword')).toHaveText(['null']);
  }
  await code('Query').getByRole('button', { name: 'Copy' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(query);
});

test('shows images, plays sounds, downloads other files', async ({ browserLog, chat, page, upstream }) => {
  // In its own tab no scripts may run, including those of the tests.
  browserLog.allow(/Blocked script execution in '[^']*\/rpc\/files\//);
  await upstream.script(callTool('desk_draw', 'a landscape'));
  await upstream.script(done);
  await chat.open();
  await chat.begin('Draw a landscape');
  await chat.done();
  const image = chat.answers.getByRole('img', { name: 'draw-1.png' });
  for (const look of ['live', 'after a reload']) {
    if (look !== 'live') await chat.reload();
    await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth), look).toBe(360);
    await expect(chat.answers.getByLabel('draw-2.wav')).toBeVisible();
    const saved = page.waitForEvent('download');
    await chat.answers.getByRole('link', { name: 'draw-3.csv' }).click();
    expect((await saved).suggestedFilename()).toBe('draw-3.csv');
  }
  await screenshots(page, 'tool-files');
  const link = chat.answers.getByRole('link', { name: 'draw-1.png' });
  const url = (await link.getAttribute('href'))!;
  await link.click();
  await expect(page.getByRole('dialog', { name: 'Image' }).getByRole('img', { name: 'draw-1.png' })).toBeVisible();
  await page.keyboard.press('Escape');
  const full = await page.context().newPage();
  await full.goto(url);
  await full.close();
  await chat.press('Delete', 'Draw a landscape');
  await expect(chat.entries).toHaveCount(0);
  // The row leaves the list before the server has deleted the chat.
  await expect.poll(async () => (await page.request.get(url)).status()).toBe(404);
});

test('a file of the wrong type is never shown', async ({ chat, page, upstream }) => {
  await upstream.script(callTool('desk_forge', 'Trust me.'));
  await upstream.script(done);
  await chat.open();
  await chat.begin('Draw a landscape');
  await chat.done();
  await expect(chat.answers.locator('.tool').getByRole('link')).toHaveText([/forge-1/, /forge-2\.svg/, /forge-3\.html/, /forge-4/, /forge-5/]);
  await expect(chat.answers.locator('img, audio')).toHaveCount(0);
  for (const link of await chat.answers.locator('.tool').getByRole('link').all()) {
    const saved = page.waitForEvent('download');
    await link.click();
    await saved;
  }
  expect(page.url()).toContain('/c/');
});

const CODE = 'fn main() {\n    let text = "hello"; // greets\n}\n';

test('finished code is highlighted and keeps the selection', async ({ chat, page, upstream }) => {
  await upstream.script({
    steps: [
      { text: '```js\nlet before;\n```\n\nSo:\n\n```rust\n' + CODE },
      { gate: 'close' },
      { text: '```\n\n```js\nlet after;\n```\n\nThat is it.' },
      { gate: 'rest' },
      { text: ' Bye.' },
    ],
  });
  await chat.open();
  await chat.begin('Show me');
  const blocks = chat.answers.locator('pre code');
  const code = blocks.nth(1);
  await expect(code).toContainText('greets');
  await expect(blocks.first().locator('.hl-keyword'), 'the highlighter is loaded').toHaveText('let');
  await expect(code.locator('[class^=hl-]')).toHaveCount(0);
  const selected = () => page.evaluate(() => getSelection()?.toString());
  await code.evaluate((code) => getSelection()?.selectAllChildren(code));
  expect(await selected()).toContain('fn main()');
  await upstream.open('close');
  await expect(chat.answers).toContainText('That is it.');
  await expect(blocks.nth(2).locator('.hl-keyword'), 'what ended after it has colours').toHaveText('let');
  await waitForPaint(page);
  expect(await selected()).toContain('fn main()');
  await expect(code.locator('[class^=hl-]')).toHaveCount(0);
  await page.evaluate(() => getSelection()?.empty());
  const coloured = async () => {
    await expect(code.locator('.hl-keyword')).toHaveText(['fn', 'let']);
    await expect(code.locator('.hl-text')).toHaveText('"hello"');
    await expect(code.locator('.hl-comment')).toHaveText('// greets');
    expect(await code.textContent()).toBe(CODE);
    return code.innerHTML();
  };
  await coloured();
  await upstream.open('rest');
  await chat.done();
  await coloured();
  await chat.reload();
  await coloured();
});

test('resumed code is plain until it ends again', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: '```js\nlet a = 1;\n' }, { gate: 'never' }], times: 1 });
  await chat.open();
  await chat.begin('Show me');
  const code = chat.answers.locator('pre code');
  await expect(code).toContainText('let a');
  await chat.stop.click();
  await expect(code.locator('.hl-keyword')).toHaveText(['let']);
  await upstream.script({ steps: [{ text: 'let b = 2;\n' }, { gate: 'rest' }, { text: '```\n' }] });
  await chat.answers.getByRole('button', { name: 'Continue' }).click();
  await expect(code).toContainText('let b');
  await expect(code.locator('.hl-keyword')).toHaveCount(0);
  await upstream.open('rest');
  await chat.done();
  await expect(code.locator('.hl-keyword')).toHaveText(['let', 'let']);
});

test('cards, files and code are accessible in either theme', async ({ chat, page, upstream }) => {
  test.slow();
  const call = (id: string, name: string, input: unknown) => ({ tool_call: { id, name, arguments: JSON.stringify(input) } });
  await upstream.script({
    steps: [
      { text: 'Let me look into this, in several ways.' },
      call('1', 'search_pubmed', { query: '("base editing"[Title] OR CRISPR) AND 2024[dp]', max_results: 5 }),
      call('2', 'calculate', { expression: '(1 + sqrt(5)) / 2' }),
      call('3', 'desk_draw', { text: 'a landscape' }),
      call('4', 'desk_forge', { text: 'x' }),
      call('5', 'desk_echo', { query: "select name, count(*) from people where age > 40 -- all", limit: 2.5, text: '{"found": [1, null]}' }),
    ],
  });
  const diff = '```diff\n@@ -1 +1 @@\n-old line\n+new line\n```\n\n';
  const python = '```python\n@cache\ndef f(n: int) -> str:\n    """Says it."""\n    return f"{n * 2.5}" if n else None  # why not\n```\n\n';
  const html = '```html\n<a href="/x" title=\'y\'>link</a> <!-- note -->\n```\n';
  await upstream.script({ when: { tool_gave: '' }, steps: [{ text: `Here it is.\n\n${diff}${python}${html}` }] });
  await chat.open();
  await chat.begin('Look into it');
  await chat.done();
  await expect(chat.answers.locator('.md-code .hl-name').first()).toBeVisible();
  await screenshots(page, 'cards-code');
  for (const summary of await chat.answers.locator('.tool summary').all()) await summary.click();
  await expect(chat.answers.getByRole('heading', { name: 'Query' })).toHaveCount(2);
  await expectAccessibleInBothThemes(page);
  await chat.answers.locator('.tool').first().scrollIntoViewIfNeeded();
  await screenshots(page, 'cards-open');
  await chat.answers.locator('.tool').nth(2).scrollIntoViewIfNeeded();
  await screenshots(page, 'cards-files');
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessibleInBothThemes(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow, 'no horizontal overflow on a phone').toBeLessThanOrEqual(0);
});
