/** Optional notifications of long answers. */
import { expectAccessible } from '../support/accessibility.ts';
import { asked, bell, press, record, shown, type Shown } from '../support/notifications.ts';
import { hide, show } from '../support/presence.ts';
import { screenshots } from '../support/screenshots.ts';
import { Settings } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

// Every answer counts as long.
test.use({ settings: '[timeouts]\nlong_answer = "1ms"' });

test('asks for permission only when switched on', async ({ chat, context, page }) => {
  await record(context, 'default');
  await chat.open();
  await chat.begin('Hello');
  await chat.done();
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(bell(page)).not.toBeChecked();
  expect(await asked(page), 'no prompt without a click').toBe(0);
  await screenshots(page, 'notify-off');
  await chat.tabTo(bell(page));
  await page.keyboard.press('Enter');
  await expect(bell(page)).toBeChecked();
  expect(await asked(page)).toBe(1);
  await expect(chat.toast('You get a notification when a long answer is done and you are elsewhere.')).toBeVisible();
  await screenshots(page, 'notify-on');
  await expectAccessible(page);
  const reload = () => new Settings(page).reload();
  await reload();
  await expect(bell(page)).toBeChecked();
  await bell(page).click();
  await expect(bell(page)).not.toBeChecked();
  await reload();
  await expect(bell(page)).not.toBeChecked();
  await bell(page).click();
  await expect(bell(page)).toBeChecked();
  expect(await asked(page), 'permission was granted before').toBe(0);
});

test('explains blocked notifications', async ({ context, page }) => {
  await record(context, 'default', 'denied');
  await new Settings(page).open();
  for (let n = 0; n < 2; n++) {
    await bell(page).click();
    await expect(page.getByText('The browser blocks notifications from Parlor.')).toBeVisible();
    await expect(bell(page)).toHaveAttribute('title', /blocked by the browser/);
  }
  await screenshots(page, 'notify-blocked');
  await expect(bell(page)).not.toBeChecked();
  expect(await asked(page), 'once').toBe(1);
});

test('one tab announces an answer that no tab shows', async ({ chat, context, newTab, page, upstream }) => {
  await record(context, 'granted');
  await upstream.script({ when: { user_contains: 'plan' }, steps: [{ text: '## **Three** steps\n\nFirst' }, { gate: 'end' }, { text: ', rest.' }] });
  const other = await newTab();
  await other.open();
  await press(other.page);
  const path = await other.begin('Make a plan');
  await other.newChat.click();
  await hide(other.page);
  await chat.open();
  await expect(chat.list).toContainText('is answering');
  await upstream.open('end');
  await expect(chat.list).toContainText('has something new');
  const all = async () => [...(await shown(page)), ...(await shown(other.page))];
  await expect.poll(all).toEqual([{ title: 'Make a plan', body: 'Three steps' }]);

  // Another answer, in the background of all tabs; the first is not announced again.
  await upstream.script({ when: { user_contains: 'fail' }, steps: [{ status: { code: 400, body: {} } }] });
  await hide(page);
  await chat.message.fill('Please fail');
  await chat.message.press('Enter');
  await expect.poll(all).toHaveLength(2);
  expect(await all()).toContainEqual({ title: 'Please fail', body: 'The model could not answer.' });

  const told = (await shown(page)).some(({ title }: Shown) => title === 'Make a plan') ? chat : other;
  await told.page.evaluate(() => (window as any).recorded.shown.find(({ title }: Shown) => title === 'Make a plan').press());
  await expect(told.page).toHaveURL(path);
  await show(told.page);
  await expect(told.answers).toContainText('First, rest.');
});

test('announces no visible, stopped or muted answers', async ({ chat, context, page, upstream }) => {
  await record(context, 'granted');
  for (const name of ['unwanted', 'seen', 'final']) await upstream.script({ when: { user_contains: name }, steps: [{ text: 'Well' }, { gate: name }] });
  await upstream.script({ when: { user_contains: 'stopped' }, steps: [{ text: 'Well' }, { gate: 'never' }] });
  await chat.open();
  const conversation = async (name: string) => {
    await chat.newChat.click();
    await chat.begin(name);
    await expect(chat.answers).toContainText('Well');
  };
  await conversation('unwanted');
  await chat.newChat.click();
  await upstream.open('unwanted');
  await expect(chat.list).toContainText('has something new');
  await press(page);
  await conversation('seen');
  await upstream.open('seen');
  await chat.done();
  await conversation('stopped');
  await chat.stop.click();
  await expect(chat.answers).toContainText('Stopped');
  // This announcement is the last one, so earlier ones would have arrived.
  await conversation('final');
  await hide(page);
  await upstream.open('final');
  await expect.poll(() => shown(page)).toHaveLength(1);
  expect(await shown(page)).toEqual([{ title: 'final', body: 'Well' }]);
});

test.describe('a short answer', () => {
  test.use({ settings: '[timeouts]\nlong_answer = "1h"' });

  test('is not announced', async ({ chat, context, page, upstream }) => {
    await record(context, 'granted');
    await upstream.script({ steps: [{ text: 'Well' }, { gate: 'end' }] });
    await page.clock.install();
    await chat.open();
    await press(page);
    await chat.begin('Is it?');
    await expect(chat.answers).toContainText('Well');
    await hide(page);
    await upstream.open('end');
    await expect(page).toHaveTitle(/^\(1\)/);
    await page.clock.fastForward(10_000);
    expect(await shown(page)).toEqual([]);
  });
});
