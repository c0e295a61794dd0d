/** The page *Schedules*: prompts that are sent at planned times. `tests/server/schedules` moves the clock. */
import { expectAccessible } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test('a message is repeated on a schedule, which runs by hand, pauses and is deleted', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Nothing much.' }] });
  await chat.open();
  await chat.begin('What is new about tides?');
  await chat.done();
  await chat.questions.first().hover();
  await chat.questions.first().getByRole('button', { name: 'Repeat' }).click();

  const form = page.locator('#schedules');
  await expect(form.getByLabel('Prompt')).toHaveValue('What is new about tides?');
  const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  await expect(form.getByLabel('Time zone')).toHaveValue(zone);
  await form.getByLabel('Name').fill('Tides');
  await form.getByRole('checkbox', { name: 'Friday' }).uncheck();
  await form.getByLabel('Time', { exact: true }).fill('07:30');
  await form.getByRole('switch', { name: 'Only tell me' }).click();
  await form.getByLabel('Limit of a month').fill('2,50');
  await expectAccessible(page);
  await screenshots(page, 'schedule-form');
  await form.getByRole('button', { name: 'Save' }).click();

  const entry = form.getByRole('listitem').filter({ hasText: 'Tides' });
  await expect(entry).toContainText(`Monday, Tuesday, Wednesday, Thursday at 07:30 (${zone})`);
  await expect(entry).toContainText('of $2.5 this month');
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Schedules' }).first()).toBeVisible();
  await entry.getByRole('button', { name: 'Run now: Tides' }).click();
  // The list follows the log.
  const last = entry.getByRole('link').nth(1);
  await expect(last).toBeVisible();
  await expectAccessible(page);
  await screenshots(page, 'schedules');

  await entry.getByRole('button', { name: 'Pause: Tides' }).click();
  await expect(entry.getByText('Paused')).toBeVisible();
  await page.reload();
  await expect(entry.getByText('Paused')).toBeVisible();
  await chat.hydrated();
  await entry.getByRole('button', { name: 'Delete: Tides' }).click();
  await expect(entry).toBeHidden();
  await expect(form.getByRole('heading', { name: 'There are no schedules yet' })).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(entry.getByText('Paused')).toBeVisible();
  await entry.getByRole('button', { name: 'Run now: Tides' }).click();
  await last.click();
  await expect(chat.questions).toContainText('What is new about tides?');
  await chat.questions.getByRole('link', { name: 'Sent by a schedule' }).click();
  await expect(form.getByLabel('Name')).toHaveValue('Tides');
  await expect(form.getByLabel('Limit of a month')).toHaveValue('2.5');
});
