/** What is new after an upgrade. */
import { expectAccessible } from '../support/accessibility.ts';
import { changeRows } from '../support/damage.ts';
import { expect, test } from '../support/test.ts';

test('news are shown until they are closed on one device', async ({ browserLog, chat, newTab, page, parlor, upstream }) => {
  browserLog.allowLostConnections();
  await upstream.script({ steps: [{ text: 'Of course.' }] });
  await chat.open();
  const card = page.getByRole('region', { name: /^New in Parlor \d/ });
  await expect(card).toHaveCount(0);
  await chat.begin('Hello');
  await chat.done();
  await changeRows(parlor, "UPDATE users SET seen_version = '0.0.9'");
  await chat.open();
  await expect(card.getByRole('listitem')).not.toHaveCount(0);
  await expectAccessible(page);
  const other = await newTab();
  await other.open();
  await other.page.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(card).toHaveCount(0);
  await chat.reload();
  await expect(card).toHaveCount(0);
});
