import { expectAccessible } from '../support/accessibility.ts';
import { OtherServer } from '../support/attacks.ts';
import { showCode } from '../support/code.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const DIAGRAM = `flowchart TD
  A[Question] --> B{Is it known?}
  B -->|yes| C[Answer]
  B -->|no| D[Search the library] --> C`;

test('a diagram is drawn in the colours of the theme', async ({ chat, page, upstream }) => {
  const block = await showCode(chat, upstream, 'mermaid', DIAGRAM);
  const image = block.getByRole('button', { name: 'Diagram, show larger' });
  await expect(image).toBeVisible();
  const width = () => image.locator('img').evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth));
  expect(await width()).toBeGreaterThan(100);
  await expect(block.locator('pre')).toBeHidden();
  await expectAccessible(page);
  const drawing = async () => decodeURIComponent((await image.locator('img').getAttribute('src'))!);
  expect(await drawing()).toContain('library');
  const LIGHT = 'fill:#ECECFF';
  expect(await drawing()).toContain(LIGHT);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(drawing).not.toContain(LIGHT);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(drawing).toContain(LIGHT);
  await screenshots(page, 'diagram');

  const shown = async () => (await image.locator('img').boundingBox())!;
  const natural = await image.locator('img').evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]);
  expect((await shown()).height, 'the height of the drawing').toBeCloseTo(natural[1]!, -1);
  await block.getByRole('button', { name: 'Show source' }).click();
  await expect(block.locator('pre')).toContainText('flowchart TD');
  await block.getByRole('button', { name: 'Show source' }).click();
  await expect(image).toBeVisible();

  await image.click();
  const dialog = page.getByRole('dialog', { name: 'Preview' });
  expect((await dialog.getByRole('img').boundingBox())!.width).toBeGreaterThan(900);
  await screenshots(page, 'diagram-large');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Download image' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('diagram.svg');
});

test('the letters of a wide diagram stay legible', async ({ chat, page, upstream }) => {
  const block = await showCode(chat, upstream, 'mermaid', `flowchart LR\n${Array.from({ length: 12 }, (_, n) => `  N${n}[Step number ${n}] --> N${n + 1}`).join('\n')}`);
  const image = block.getByRole('button', { name: 'Diagram, show larger' }).locator('img');
  await expect(image).toBeVisible();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const scale = await image.evaluate((image: HTMLImageElement) => image.getBoundingClientRect().width / image.naturalWidth);
    expect(16 * scale, `at ${width}`).toBeGreaterThanOrEqual(11.9);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await screenshots(page, `diagram-wide-${width}`);
  }
  await expectAccessible(page);
});

test('a broken diagram shows its source and the reason', async ({ chat, page, upstream }) => {
  const blocks = await showCode(chat, upstream, 'mermaid', 'flowchart TD\n  A[Start --> B', 'mindmap\n  root\n    a');
  await expect(blocks.first().getByRole('note')).toContainText(/This diagram cannot be drawn: Parse error on line \d: .*A\[Start --> B/);
  await expect(blocks.first().locator('pre')).toBeVisible();
  await screenshots(page, 'diagram-broken');
  await blocks.last().scrollIntoViewIfNeeded();
  await expect(blocks.last().getByRole('note')).toHaveText('This diagram cannot be drawn: its type is unknown, or not supported here');
});

test('a diagram can be tried again when Mermaid was not loaded', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allow(/Failed to load resource/);
  await page.route(/mermaid/, (route) => route.abort());
  const block = await showCode(chat, upstream, 'mermaid', DIAGRAM);
  await expect(block.getByRole('note')).toContainText('This diagram cannot be drawn: Mermaid could not be loaded');
  await expect(block.locator('pre')).toBeVisible();
  await page.unroute(/mermaid/);
  await block.getByRole('button', { name: 'Try again' }).click();
  await expect(block.getByRole('button', { name: 'Diagram, show larger' })).toBeVisible();
  await expect(block.getByRole('note')).toHaveCount(0);
});

test('nothing leaves a diagram', async ({ browserLog, chat, context, page, upstream }) => {
  // Its styles try, and the frame's policy refuses. So does its handler, if the image fails before Mermaid removes it.
  browserLog.allow(/@import rules are not allowed|\/(css|font)' violates .*img-src data:|inline event handler violates/);
  const other = await OtherServer.start();
  const hostile = `---
title: >-
  <img src="${other.url}/title">
config:
  securityLevel: loose
  fontFamily: 'a; background: url(${other.url}/font)'
  themeCSS: '@import url(${other.url}/import); * { background: url(${other.url}/css) }'
---
flowchart TD
  A["<img src='${other.url}/img' onerror='fetch(1)'><b>bold</b>"] --> B[Words]
  click A href "${other.url}/link"
  click B call alert()
  style B fill:red`;
  const block = await showCode(chat, upstream, 'mermaid', hostile, DIAGRAM);
  await expect(block.last().getByRole('button', { name: 'Diagram, show larger' })).toBeVisible();
  // The hostile one is drawn.
  const drawn = block.first().getByRole('button', { name: 'Diagram, show larger' });
  await drawn.scrollIntoViewIfNeeded();
  expect(decodeURIComponent((await drawn.locator('img').getAttribute('src'))!)).toContain('Words');
  await expect(page.locator('.diagram-frame')).toHaveAttribute('sandbox', 'allow-scripts');
  expect(await other.before(context)).toEqual({ connections: 0, received: [], datagrams: 0 });
  other.close();
});
