import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { EventStream } from '../support/events.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.use({ javaScriptEnabled: false });

test('a conversation can be read at its URL', async ({ chat, page, parlor, request, upstream }) => {
  await upstream.script({ steps: [{ think: 'A thought.' }, { text: 'An **answer**.' }] });
  const events = await (await EventStream.chat(parlor.url, { message: 'A <question>' })).rest();
  const path = `/c/${events[0]!.conversation_id}`;

  const html = await (await request.get(path)).text();
  expect(html).toContain('A &lt;question&gt;');
  expect(html).toContain('<strong>answer');

  await page.goto(path);
  await expect(chat.title).toHaveText('A <question>');
  await expect(chat.questions).toContainText('A <question>');
  await expect(chat.answers).toContainText('An answer.');
  await expect(chat.entry('A <question>')).toBeVisible();
  await chat.answers.getByText(/^Thought/).click();
  await expect(chat.answers.getByText('A thought.')).toBeVisible();
});

test('messages sent with the form are answered', async ({ chat, page, parlor, upstream }) => {
  const log = await EventStream.everything(parlor.url);
  await page.goto('/');
  await chat.plainModel.selectOption('echo');
  await chat.message.fill('First');
  await chat.send.click();
  await expect(page).toHaveURL(/\/c\//);
  await expect(chat.questions).toContainText('First');
  await log.until('complete');
  await page.reload();
  await expect(chat.answers).toContainText('First');
  const path = chat.path;

  await chat.message.fill('Second');
  await chat.send.click();
  await expect(chat.questions).toHaveText([/First/, /Second/]);
  await log.until('complete');
  await page.reload();
  expect(chat.path).toBe(path);
  await expect(chat.questions).toHaveText([/First/, /Second/]);
  await expect(chat.answers).toHaveText([/First/, /Second/]);
  expect((await upstream.asked()).map(({ model }) => model)).toEqual(['echo', 'echo']);
  log.close();
});

test('a form submitted twice is one message', async ({ chat, page, parlor, request, upstream }) => {
  await page.goto('/');
  const ids = await page.locator('form input[type=hidden]').evaluateAll((inputs) => inputs.map((input) => [(input as HTMLInputElement).name, (input as HTMLInputElement).value]));
  const form = { ...Object.fromEntries(ids), message: 'Once', model: 'openai/echo' };
  const headers = { origin: parlor.url };
  const answers = await Promise.all([1, 2].map(() => request.post('/send', { form, headers, maxRedirects: 0 })));
  expect(answers.map((answer) => answer.status())).toEqual([303, 303]);
  const [path, again] = answers.map((answer) => answer.headers()['location']!);
  expect(again).toBe(path);
  await page.goto(path!);
  await expect(chat.questions).toHaveText([/Once/]);
  await expect(chat.entries).toHaveCount(1);
  expect(await upstream.asked()).toHaveLength(1);
});

test('an answer can be stopped', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Well' }, { gate: 'never' }] });
  await page.goto('/');
  await chat.message.fill('Tell me');
  await chat.send.click();
  await upstream.reached('never');
  // A reload fails while the page changes.
  await expect(page).toHaveURL(/\/c\//);
  await page.reload();
  await chat.stop.click();
  await expect(chat.answers.getByText('Stopped', { exact: true })).toBeVisible();
  await expect(chat.questions).toHaveCount(1);
  await expect(chat.send).toBeVisible();
});

test('a message sent during a run waits for its end', async ({ chat, page, parlor, upstream }) => {
  const events = await (await EventStream.chat(parlor.url, { message: 'First' })).rest();
  const { conversation_id } = events[0]!;
  await page.goto(`/c/${conversation_id}`);
  await chat.message.fill('Second <b>&amp;</b>\nline');
  // Meanwhile another run is active there.
  await upstream.script({ steps: [{ text: 'Busy' }, { gate: 'rest' }] });
  const busy = await EventStream.chat(parlor.url, { message: 'Me first', conversation_id });
  await busy.until('text_delta');
  await chat.send.click();
  await expect(page).toHaveURL(`/c/${conversation_id}`);
  await expect(chat.message).toHaveValue('');
  await screenshots(page, 'queued');
  await upstream.open('rest');
  await busy.rest();
  await expect(async () => {
    await page.reload();
    await expect(chat.questions).toHaveCount(3, { timeout: 1000 });
  }).toPass();
  await expect(chat.questions.last()).toContainText('Second <b>&amp;</b>');
});

test.describe('with a limit', () => {
  test.use({ environment: { PARLOR_CONFIG: fileURLToPath(new URL('../support/short.toml', import.meta.url)) } });

  test('invalid messages are rejected with an HTML page', async ({ parlor, request }) => {
    const headers = { origin: parlor.url };
    const empty = await request.post('/send', { form: { message: ' ' }, headers });
    expect(empty.status()).toBe(400);
    expect(await empty.text()).toContain('Your message is empty');
    const endless = await request.post('/send', { form: { message: 'x'.repeat(20_000) }, headers });
    expect(endless.status()).toBe(413);
    expect(endless.headers()['content-type']).toContain('text/html');
  });
});

/** The names of controls that have no effect without scripts. */
const deadControls = (page: Page) =>
  page.locator('a, button, input, select, textarea, summary, [role=button], [tabindex="0"]').evaluateAll((elements) => {
    const works = (element: Element) => {
      if (element instanceof HTMLAnchorElement) return element.href !== '';
      if (element instanceof HTMLButtonElement) {
        const opens = element.popoverTargetElement !== null;
        return opens || (element.type === 'submit' && element.form !== null);
      }
      if (element.matches('input, select, textarea')) {
        const { form, name } = element as HTMLInputElement;
        return form !== null && name !== '' && form.querySelector('[type=submit]') !== null;
      }
      // Overflowing blocks are scrolled with the keys.
      const { overflowX, overflowY } = getComputedStyle(element);
      return element.matches('details > summary:first-child') || /auto|scroll/.test(`${overflowX} ${overflowY}`);
    };
    const seen = elements.filter((element) => element.checkVisibility({ visibilityProperty: true }));
    return seen.filter((element) => !works(element)).map((element) => element.getAttribute('aria-label') ?? element.outerHTML);
  });

test.describe('with tools', () => {
  // There is no search yet.
  test.use({ settings: '[tools.web_search]\nprovider = "searxng"\nurl = "http://127.0.0.1:1"' });

  test('the page has no dead controls', async ({ browserLog, chat, page, parlor, upstream }) => {
    browserLog.allow(/status of 404/);
    const offers = 'SUGGESTED_VALUES: [{"label": "More", "value": "Tell me more"}]';
    await upstream.script({ steps: [{ think: 'Hm.' }, { text: `\`\`\`\ncode\n\`\`\`\n\n[A link](https://example.com)\n${offers}` }] });
    const events = await (await EventStream.chat(parlor.url, { message: 'Show' })).rest();
    for (const path of ['/', `/c/${events[0]!.conversation_id}`, '/literature', '/literature/saved', '/streams', '/stream/new', '/reports', '/reports/new', '/schedules', '/schedules/new', '/settings', '/nowhere']) {
      await page.goto(path);
      await expect(page.getByRole('link', { name: 'New chat' }).first()).toBeVisible();
      expect(await deadControls(page), path).toEqual([]);
    }
    await page.goto(`/c/${events[0]!.conversation_id}`);
    await expect(chat.send).toBeVisible();
    for (const name of ['Add files or tools', /How the model answers/, 'Regenerate', 'Copy code', 'More', /^Context window/]) {
      await expect(page.getByRole('button', { name })).toHaveCount(0);
    }
  });
});
