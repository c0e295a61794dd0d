/** Charts of Plotly, drawn with a real Python session and the script of its package, in frames without origin. */
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { OtherServer } from '../support/attacks.ts';
import type { Chat } from '../support/chat.ts';
import { screenshots } from '../support/screenshots.ts';
import { test as base, expect } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

const interpreter = fileURLToPath(new URL('../../target/test-python/bin/python', import.meta.url));

const test = base.extend({
  settings: async ({}, use) => use(`[python]\ninterpreter = ${JSON.stringify(interpreter)}\nstart_timeout = "2m"`),
});

const BARS = 'import plotly.express as px\npx.bar(x=["North", "South", "Capital"], y=[4.2, 6.1, 4.3], title="Unemployment <b>rates</b>")';

// A trace takes snapshots of all frames, and would wait for the one that loops.
test.use({ trace: 'off' });

/** Lets the model run code, and waits for the answer. */
async function run(chat: Chat, upstream: Upstream, code: string): Promise<void> {
  const call = { id: 'call_1', name: 'execute_code', arguments: JSON.stringify({ code }) };
  await upstream.script({ when: { user_contains: 'Draw' }, steps: [{ tool_call: call }] });
  await upstream.script({ when: { tool_gave: 'interactive chart' }, steps: [{ text: 'It is drawn.' }] });
  await chat.message.fill('Draw it');
  await chat.message.press('Enter');
  await expect(chat.answers.getByText('It is drawn.')).toBeVisible();
}

/** The type of the stored picture. */
async function pictureType(page: Page): Promise<string> {
  const url = await page.locator('.tool-chart-place img').first().getAttribute('src');
  return (await page.request.get(url!)).headers()['content-type']!;
}

test('a chart is drawn at the second attempt, follows the theme, and its picture is kept', async ({ browserLog, chat, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  browserLog.allow(/Failed to load resource/);
  await page.route(/plotly\.js/, (route) => route.abort());
  await chat.open();
  await run(chat, upstream, BARS);
  const note = chat.answers.getByRole('note');
  await expect(note).toContainText('This chart can’t be drawn: Plotly could not be loaded');
  await expect(chat.answers.getByRole('link', { name: /^chart-1.json/ })).toHaveAttribute('download', 'chart-1.json');
  await page.unroute(/plotly\.js/);
  await note.getByRole('button', { name: 'Try again' }).click();

  const element = chat.answers.locator('iframe');
  await expect(element).toBeVisible();
  await expect(note).toHaveCount(0);
  await expect(element).toHaveAttribute('title', 'Chart: Unemployment rates');
  await expect(element).toBeVisible();
  await expect(element).toHaveAttribute('sandbox', 'allow-scripts');
  const frame = chat.answers.frameLocator('iframe');
  const bars = frame.locator('.bars .point');
  await expect(bars).toHaveCount(3);
  await expectAccessible(page);
  const bar = (await bars.nth(1).boundingBox())!;
  await page.mouse.move(bar.x + bar.width / 2, bar.y + bar.height / 2);
  await expect(frame.locator('.hoverlayer')).toContainText('6.1');
  // The tools of the chart lead to no other site.
  await expect(frame.locator('.modebar-btn').first()).toBeVisible();
  await expect(frame.locator('[data-title*="loud"], [data-title*="Share"], [data-title*="Download"], .plotlyjsicon')).toHaveCount(0);
  await page.mouse.move(5, 5);
  await expect(chat.answers.getByRole('link', { name: /^chart-1.json/ })).toBeInViewport();
  const desktop = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  const width = async () => (await frame.locator('.main-svg').first().boundingBox())!.width;
  await expect.poll(width).toBeLessThan(390);
  await screenshots(page, 'chart-narrow');
  await page.setViewportSize(desktop);
  await expect.poll(width).toBeGreaterThan(500);
  await screenshots(page, 'chart');
  await expect.poll(() => pictureType(page)).toBe('image/png');

  const background = frame.locator('.main-svg').first();
  const style = () => background.evaluate((svg: SVGElement) => getComputedStyle(svg).backgroundColor);
  await expect.poll(style).toBe('rgb(255, 255, 255)');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(style).not.toBe('rgb(255, 255, 255)');
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(style).toBe('rgb(255, 255, 255)');

  await parlor.kill();
  await parlor.start();
  await page.goto(`${page.url()}?plain=`);
  const picture = chat.answers.getByRole('img', { name: 'Chart chart-1.json' });
  await expect(picture).toBeVisible();
  const pixels = () => picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth));
  expect(await pixels()).toBe(1600);
  await expect(chat.answers.locator('iframe')).toHaveCount(0);
  await screenshots(page, 'chart-picture');
});

test('many points and three dimensions are drawn', async ({ browserLog, chat, upstream }) => {
  // Those of WebGL without a graphics card, and of Plotly's canvas.
  browserLog.allow(/GPU stall due to ReadPixels|willReadFrequently/);
  await chat.open();
  const many = 'import plotly.express as px, plotly.graph_objects as go\nfigure = px.scatter(x=list(range(3000)), y=list(range(3000)))\nfigure.show()';
  await run(chat, upstream, `${many}\ngo.Figure(go.Surface(z=[[1, 2], [3, 4]])).show()`);
  const frames = chat.answers.locator('iframe');
  for (const index of [0, 1]) {
    // The second one is made when it is seen.
    await chat.answers.locator('.tool-chart').nth(index).scrollIntoViewIfNeeded();
    await expect(frames.nth(index)).toBeVisible();
    await expect(chat.answers.frameLocator('iframe').nth(index).locator('canvas').first()).toBeVisible();
  }
  await expect(chat.answers.getByRole('note')).toHaveCount(0);
});

test('nothing leaves a chart', async ({ browserLog, chat, context, page, upstream }) => {
  // What its images and styles try, the frame's policy refuses.
  browserLog.allow(/Content Security Policy|Blocked opening|Blocked script execution|WARN/);
  const other = await OtherServer.start();
  const markup = `<img src="${other.url}/img" onerror="parent.postMessage({ title: 'owned' }, '*')"><a href="javascript:document.title='owned'">script</a><a href="${other.url}/link" target="_top">link</a>`;
  const code = `
import plotly.graph_objects as go
from IPython.display import display
markup = ${JSON.stringify(markup)}
figure = {
    "data": [
        {"type": "bar", "x": [markup, "b"], "y": [1, 2], "text": [markup, "%{x:${'${alert(1)}'}}"], "name": markup,
         "hovertemplate": markup + "%{y}<extra>" + markup + "</extra>", "texttemplate": markup + "%{y}"},
        {"type": "image", "source": "${other.url}/trace.png"},
    ],
    "layout": {
        "title": {"text": markup + "Words"},
        "images": [{"source": "${other.url}/layout.png", "x": 0, "y": 1, "sizex": 1, "sizey": 1, "xref": "paper", "yref": "paper"}],
        "font": {"family": "a; background: url(${other.url}/font)"},
        "annotations": [{"text": markup, "x": 0, "y": 1, "xref": "x", "yref": "y"}],
    },
    "config": {"plotlyServerURL": "${other.url}", "showLink": True, "linkText": markup, "showSendToCloud": True},
}
display({"application/vnd.plotly.v1+json": figure}, raw=True)`;
  await chat.open();
  await run(chat, upstream, code);
  const element = chat.answers.locator('iframe');
  await expect(element).toBeVisible();
  await expect(element).toHaveAttribute('title', /Words$/);
  const frame = chat.answers.frameLocator('iframe');
  await expect(frame.locator('.bars .point').first()).toBeAttached();
  for (const link of await frame.locator('a').all()) await link.dispatchEvent('click');
  expect(await other.before(context)).toEqual({ connections: 0, received: [], datagrams: 0 });
  expect(await page.title()).not.toBe('owned');
  await expect(element).toBeVisible();
  other.close();
});

test('an endless chart is given up, and the others are drawn again', async ({ chat, page, upstream }) => {
  await page.route(/plotly\.js/, async (route) => {
    const response = await route.fetch();
    const loop = 'const { react } = Plotly; Plotly.react = (...all) => { if (all[1].layout.title?.text === "loop") for (;;); return react(...all); };';
    await route.fulfill({ response, body: `${await response.text()};${loop}` });
  });
  await chat.open();
  await run(chat, upstream, `${BARS}.show()\npx.bar(x=["a"], y=[1], title="loop")`);
  const charts = chat.answers.locator('.tool-chart');
  await charts.first().scrollIntoViewIfNeeded();
  await charts.last().scrollIntoViewIfNeeded();
  await chat.message.fill('still here');
  await expect(charts.last().getByRole('note')).toHaveText('This chart can’t be drawn: it takes too long', { timeout: 40_000 });
  await charts.first().scrollIntoViewIfNeeded();
  await expect(charts.first().locator('iframe')).toBeVisible();
  await expect(charts.last().locator('iframe')).toHaveCount(0);
});
