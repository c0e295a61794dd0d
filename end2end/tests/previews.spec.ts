import { readFile } from 'node:fs/promises';
import { expectAccessible } from '../support/accessibility.ts';
import { ATTACKS, OtherServer } from '../support/attacks.ts';
import { showCode as show } from '../support/code.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const SVG = `<svg viewBox="0 0 200 100"><circle cx="50" cy="50" r="40" fill="teal"/><text x="100" y="55">Text</text></svg>`;

test('an SVG is shown as an image', async ({ chat, page, upstream }) => {
  const block = await show(chat, upstream, 'svg', SVG);
  const image = block.getByRole('button', { name: 'Image, show larger' });
  await expect(image.locator('img')).toHaveJSProperty('complete', true);
  expect(await image.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  await expect(block.locator('pre')).toBeHidden();
  await screenshots(page, 'preview-svg');
  await expectAccessible(page);

  const height = (await block.boundingBox())!.height;
  await block.getByRole('button', { name: 'Show source' }).click();
  await expect(block.locator('pre')).toBeVisible();
  await expect(block.locator('pre')).toContainText('<circle');
  expect((await block.boundingBox())!.height).toBe(height);
  await block.getByRole('button', { name: 'Show source' }).click();

  await image.click();
  const dialog = page.getByRole('dialog', { name: 'Preview' });
  expect((await dialog.getByRole('img').boundingBox())!.width).toBeGreaterThan(900);
  await screenshots(page, 'preview-svg-large');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();

  await block.hover();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    block.getByRole('button', { name: 'Download code' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('code.svg');
  expect(await readFile(await download.path(), 'utf8')).toBe(`${SVG}\n`);

  await chat.open(chat.path);
  await expect(image).toBeVisible();
  expect((await block.boundingBox())!.height).toBe(height);
});

test('a broken SVG shows its source and the reason', async ({ chat, page, upstream }) => {
  const block = await show(chat, upstream, 'svg', '<svg viewBox="0 0 1 1"><g><rect/></svg>');
  await expect(block.getByRole('note')).toHaveText('This image cannot be drawn: line 1: </svg> ends <g>, which begins in line 1');
  await expect(block.locator('pre')).toBeVisible();
  await expect(block.getByRole('button', { name: 'Show larger' })).toHaveCount(0);
  await screenshots(page, 'preview-broken');
});

test('a part of a page stays code', async ({ chat, page, upstream }) => {
  const block = await show(chat, upstream, 'html', '<p>one</p>');
  await waitForPaint(page);
  await expect(block.locator('pre')).toBeVisible();
  await expect(block.locator('iframe')).toHaveCount(0);
});

const PAGE = `<!DOCTYPE html>
<html><head><style>h1 { color: rgb(1, 2, 3) }</style></head>
<body><h1 onclick="this.textContent = 'pressed'">A page</h1><p id="out">no script</p>
<script>document.getElementById('out').textContent = 'script of ' + origin;</script>
</body></html>`;

test('a page is shown without its scripts', async ({ browserLog, chat, page, upstream }) => {
  // Chromium reports each script that a frame does not run.
  browserLog.allow(/Blocked script execution in/);
  const block = await show(chat, upstream, 'html', PAGE);
  const frame = block.frameLocator('iframe');
  await expect(frame.getByRole('heading', { name: 'A page' })).toHaveCSS('color', 'rgb(1, 2, 3)');
  await expect(frame.locator('#out')).toHaveText('no script');
  await expect(block.locator('iframe')).toHaveAttribute('sandbox', '');
  await screenshots(page, 'preview-page');

  await frame.getByRole('heading').click();
  await expect(frame.getByRole('heading')).toHaveText('A page');
  await expect(block).toContainText('Shown without its scripts.');
  await expect(block.getByRole('button', { name: 'Run scripts' })).toBeVisible();

  await block.getByRole('button', { name: 'Show larger' }).click();
  const dialog = page.getByRole('dialog', { name: 'Preview' });
  await expect(dialog.frameLocator('iframe').locator('#out')).toHaveText('no script');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
  await expect(chat.message).toBeEditable();
});

test('nothing leaves a page', async ({ browserLog, chat, context, page, upstream }) => {
  // Chromium reports each refused attempt.
  browserLog.allow(/./);
  const other = await OtherServer.start();
  const address = () => page.url();

  const block = await show(chat, upstream, 'html', ATTACKS(other.url));
  const path = address();
  const frame = block.frameLocator('iframe');
  await expect(frame.locator('body')).toContainText('Words');
  expect(await other.before(context)).toMatchObject({ connections: 0 });
  for (const id of ['link', 'top', 'submit']) {
    await expect(frame.locator(`#${id}`)).toBeVisible();
    // A refused navigation leaves an error page in the frame, which may end the click.
    await frame.locator(`#${id}`).click({ timeout: 1000 }).catch(() => {});
    await block.getByRole('button', { name: 'Show source' }).click();
    await block.getByRole('button', { name: 'Show source' }).click();
    await expect(frame.locator('body')).toContainText('Words');
  }
  // A press on a link may open a connection ahead of time, but the navigation is refused and nothing is sent.
  expect(await other.before(context)).toMatchObject({ received: [] });
  expect(address()).toBe(path);
  expect(context.pages()).toHaveLength(1);
  await expect(page).toHaveTitle('Show · Parlor');
  await chat.message.fill('still here');
  await expect(chat.message).toHaveValue('still here');
  other.close();
});

test('an endless loop in a page does not run', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allow(/Blocked script execution in/);
  const block = await show(chat, upstream, 'html', '<!DOCTYPE html><p>Words</p><script>while (true) {}</script>');
  await expect(block.frameLocator('iframe').getByText('Words')).toBeVisible();
  await chat.message.fill('still here');
  await expect(chat.message).toHaveValue('still here');
  await block.getByRole('button', { name: 'Show source' }).click();
  await expect(block.locator('iframe')).toHaveCount(0);
  await expect(block.locator('pre')).toContainText('while');
});
