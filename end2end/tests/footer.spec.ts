/** The footer of an answer: quiet until it is wanted, in a place that is always there. What one can do with the last answer is seen. */
import type { Locator } from '@playwright/test';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import type { Chat } from '../support/chat.ts';

const first = (chat: Chat) => chat.answers.first().locator('.message-foot');
const last = (chat: Chat) => chat.answers.last().locator('.message-foot');
const copy = (foot: Locator) => foot.getByRole('button', { name: 'Copy' });
const facts = (foot: Locator) => foot.locator('.facts');

async function stopAnswer(chat: Chat): Promise<void> {
  const before = await chat.answers.count();
  await chat.say('Tell me');
  await expect(chat.answers.nth(before)).toContainText('The beginning');
  await chat.stop.click();
  await chat.done();
}

test.describe('with a mouse', () => {
  test.use({ locale: 'en-US' });

  test('it appears on hover and with the focus, and nothing moves', async ({ chat, page }) => {
    await chat.open();
    for (const text of ['Hello', 'Again']) {
      await chat.say(text);
      await chat.done();
    }
    await page.mouse.move(0, 0);
    await expect(copy(last(chat)), 'the last one').toHaveCSS('opacity', '1');
    await expect(facts(last(chat))).toHaveCSS('opacity', '0');
    const [button, model] = [copy(first(chat)), facts(first(chat))];
    for (const part of [button, model]) await expect(part).toHaveCSS('opacity', '0');
    const place = await first(chat).boundingBox();
    expect(place!.height).toBe(30);
    await chat.answers.first().hover();
    for (const part of [button, model]) await expect(part).toHaveCSS('opacity', '1');
    expect(await first(chat).boundingBox()).toEqual(place);
    // As the browser's language writes the hours.
    await expect(first(chat).locator('time')).toHaveText(/^\d{1,2}:\d\d\s[AP]M$/);
    await screenshots(page, 'footer');
    await page.mouse.move(0, 0);
    await expect(button).toHaveCSS('opacity', '0');
    await chat.tabTo(button, 'Shift+Tab');
    for (const part of [button, model]) await expect(part).toHaveCSS('opacity', '1');
  });

  test('a stopped answer says so at all times', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'The beginning' }, { gate: 'never' }] });
    await chat.open();
    await stopAnswer(chat);
    await stopAnswer(chat);
    await page.mouse.move(0, 0);
    for (const answer of [0, 1]) {
      await expect(chat.answers.nth(answer).getByText('Stopped', { exact: true })).toHaveCSS('opacity', '1');
    }
    await expect(chat.answers.last().getByRole('button', { name: 'Continue' }), 'the way on').toHaveCSS('opacity', '1');
    await expect(chat.answers.first().getByRole('button', { name: 'Continue' })).toHaveCount(0);
    await screenshots(page, 'footer-stopped');
  });

  test('the list of models has letters of its own size', async ({ chat, page }) => {
    await chat.open();
    await chat.say('Hello');
    await chat.done();
    const size = () => page.locator('.model-dialog:popover-open .model-name').first().evaluate((name) => getComputedStyle(name).fontSize);
    await chat.model.click();
    const atTheComposer = await size();
    await page.keyboard.press('Escape');
    await chat.answers.getByRole('button', { name: 'Answer with another model' }).click();
    expect(await size()).toBe(atTheComposer);
  });
});

test.describe('with a finger', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('it appears whole with a tap on the answer, as large as a finger', async ({ chat, page }) => {
    await chat.openWithTouch();
    await chat.message.fill('Hello');
    await chat.send.tap();
    await chat.done();
    await expect(copy(last(chat))).toHaveCSS('opacity', '1');
    await expect(facts(last(chat))).toHaveCSS('opacity', '0');
    await chat.answers.locator('.prose').tap();
    await expect(facts(last(chat))).toHaveCSS('opacity', '1');
    const box = (await copy(last(chat)).boundingBox())!;
    expect([box.width, box.height]).toEqual([44, 44]);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider).toBeLessThanOrEqual(0);
    await screenshots(page, 'footer-touch');
  });
});
