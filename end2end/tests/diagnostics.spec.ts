/** The diagnostics dialog of an answer. */
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import type { Chat } from '../support/chat.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

const dialog = (chat: Chat) => chat.page.getByRole('dialog', { name: 'Diagnostics' });
const section = (chat: Chat, title: string) => dialog(chat).locator('details').filter({ has: chat.page.locator('summary', { hasText: title }) });
const unfold = (chat: Chat, title: string) => section(chat, title).locator('summary').click();
const fact = (chat: Chat, name: string) => dialog(chat).getByRole('term').filter({ hasText: new RegExp(`^${name}$`) }).locator('xpath=../dd');

const VALUES = 'SUGGESTED_VALUES: [{"label": "More", "value": "Tell me more"}]';

/** Produces a finished answer with a tool call. */
async function finishAnswer(chat: Chat, upstream: Upstream, question = 'What time is it in Tokyo?'): Promise<void> {
  const tool_call = { id: 'call_1', name: 'current_time', arguments: '{"time_zone":"Asia/Tokyo"}' };
  await upstream.script({ steps: [{ think: 'They want the time.' }, { text: 'Let me see.' }, { tool_call }] });
  await upstream.script({ when: { tool_gave: 'UTC+09:00' }, steps: [{ text: 'It is late.\n' }, { text: VALUES }] });
  await chat.open();
  await chat.begin(question);
  await chat.done();
}

test('shows request, response and timing', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await chat.openDiagnostics();
  await expect(fact(chat, 'Model')).toHaveText('openai/echo');
  await expect(fact(chat, 'State')).toHaveText('complete');
  await expect(fact(chat, 'Tokens')).toHaveText(/^20 in, \d+ out$/);
  await expect(fact(chat, 'First token')).toHaveText(/^\d+\.\d\d s$/);
  await expect(fact(chat, 'Address')).toHaveText(upstream.baseUrl);

  const texts = async (title: string) => {
    const part = section(chat, title);
    await expect(part.locator('pre').first(), 'it is folded').toBeHidden();
    await unfold(chat, title);
    await expect(part.locator('pre').first()).toBeVisible();
    return part;
  };
  await expect(await texts('System prompt')).toContainText('You are a helpful assistant.');
  const messages = await texts('Messages');
  await expect(messages).toContainText('What time is it in Tokyo?');
  await expect(messages).toContainText('JST');
  await expect(await texts('Tools')).toContainText('current_time');
  const raw = await texts('Raw response');
  await expect(raw).toContainText(VALUES);
  await expect(raw).toContainText('They want the time.');
  await expect(await texts('Timeline')).toContainText('tool_complete: current_time');
  await expect(chat.answers.getByText(VALUES), 'which no answer shows').toHaveCount(0);
  await screenshots(page, 'diagnostics');
});

test('copies JSON without the key', async ({ chat, context, page, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await finishAnswer(chat, upstream, 'What does sk-test say?');
  await chat.openDiagnostics();
  await dialog(chat).getByRole('button', { name: 'Copy as JSON' }).click();
  await expect(dialog(chat).getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const { model, calls, system_prompt } = JSON.parse(copied);
  expect([model, calls.length, typeof system_prompt]).toEqual(['openai/echo', 2, 'string']);
  expect(copied).toContain('What does ••• say?');
  expect(copied).not.toContain('sk-test');
});

test('the keyboard opens it, stays inside and returns', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await chat.tabTo(chat.more, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem').first()).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('menuitem').last()).toBeFocused();
  const diagnostics = page.getByRole('menuitem', { name: 'Diagnostics' });
  for (let presses = 0; presses < 10 && !(await diagnostics.evaluate((item) => item === document.activeElement)); presses++) {
    await page.keyboard.press('ArrowUp');
  }
  await page.keyboard.press('Enter');
  await expect(fact(chat, 'Model')).toBeVisible();
  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press('Tab');
    // Between the last and the first element the focus is in the browser's own interface.
    const is_within = await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null);
    expect(is_within).toBe(true);
  }
  await page.keyboard.press('Escape');
  await expect(dialog(chat)).toBeHidden();
  await expect(chat.more).toBeFocused();
});

test('shows partial data while the answer is running', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'One' }, { gate: 'rest' }, { text: ' two.' }] });
  await chat.open();
  await chat.begin('Count');
  await expect(chat.answers).toContainText('One');
  await chat.openDiagnostics();
  await expect(fact(chat, 'State')).toHaveText('running');
  await expect(section(chat, 'Messages')).toContainText('1 message');
  await upstream.open('rest');
  // The dialog covers the page; only the page behind it changes.
  await expect(chat.answers.locator('.message-foot .model')).toBeAttached();
  await dialog(chat).getByRole('button', { name: 'Refresh' }).click();
  await expect(fact(chat, 'State')).toHaveText('complete');
  await expect(dialog(chat).getByRole('button', { name: 'Refresh' })).toHaveCount(0);
  await dialog(chat).getByRole('button', { name: 'Close' }).click();
  await expect(chat.more, 'the new one, in the place of the one that was pressed').toBeFocused();
});

test('a failed load says so and can be retried', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allowLostConnections();
  await finishAnswer(chat, upstream);
  await page.route('**/rpc/diagnostics*', (route) => route.abort());
  await chat.openDiagnostics();
  await expect(dialog(chat).getByRole('alert')).toContainText('could not be reached');
  await page.unroute('**/rpc/diagnostics*');
  await dialog(chat).getByRole('button', { name: 'Try again' }).click();
  await expect(fact(chat, 'State')).toHaveText('complete');
});

test('navigation closes it', async ({ chat, page, upstream }) => {
  await finishAnswer(chat, upstream);
  await chat.openDiagnostics();
  await expect(fact(chat, 'State')).toBeVisible();
  await page.goBack();
  await expect(dialog(chat)).toHaveCount(0);
});

test('is accessible in either theme, on desktop and phone', async ({ chat, page, upstream }) => {
  test.slow();
  const titles = ['System prompt', 'Messages', 'Context', 'Tools', 'Raw response', 'Timeline'];
  await finishAnswer(chat, upstream);
  for (const [kind, viewport] of [['desktop', { width: 1280, height: 720 }], ['phone', { width: 390, height: 844 }]] as const) {
    await test.step(kind, async () => {
      await page.setViewportSize(viewport);
      await chat.openDiagnostics();
      await expect(fact(chat, 'Model')).toBeVisible();
      await expectAccessibleInBothThemes(page);
      for (const title of titles) await unfold(chat, title);
      await expectAccessibleInBothThemes(page);
      const wider = await dialog(chat).evaluate((element) => element.scrollWidth > element.clientWidth);
      expect(wider, 'nothing is cut off at the side').toBe(false);
      await screenshots(page, `diagnostics-open-${kind}`);
      await dialog(chat).getByRole('button', { name: 'Close' }).click();
    });
  }
});
