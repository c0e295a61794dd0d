import { expectAccessible } from '../support/accessibility.ts';
import { NAVIGATIONS, OtherServer, SCRIPTED_ATTACKS } from '../support/attacks.ts';
import { showCode } from '../support/code.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const PAGE = `<!DOCTYPE html>
<html><head><style>h1 { color: rgb(1, 2, 3) }</style></head>
<body><h1 onclick="this.innerHTML = '<b>pressed</b>'">A page</h1><p id="out">no script</p>
<script>document.getElementById('out').textContent = 'script of ' + origin + ', ' + document.compatMode;</script>
</body></html>`;

test('scripts run after a click, without an origin', async ({ browserLog, chat, page, upstream }) => {
  browserLog.allow(/Blocked script execution in/);
  const block = await showCode(chat, upstream, 'html', PAGE);
  const frame = block.frameLocator('iframe');
  await expect(frame.locator('#out')).toHaveText('no script');

  await block.getByRole('button', { name: 'Run scripts' }).click();
  await expect(frame.locator('#out')).toHaveText('script of null, CSS1Compat');
  await expect(block.locator('iframe')).toHaveAttribute('sandbox', 'allow-scripts');
  await expect(frame.getByRole('heading')).toHaveCSS('color', 'rgb(1, 2, 3)');
  await frame.getByRole('heading').click();
  await expect(frame.getByRole('heading')).toHaveText('pressed');
  await expect(block).toContainText('Its scripts run, without network.');
  await screenshots(page, 'preview-scripts');
  await expectAccessible(page);

  // Shown again, it does not run by itself.
  await block.getByRole('button', { name: 'Show source' }).click();
  await block.getByRole('button', { name: 'Show source' }).click();
  await expect(frame.locator('#out')).toHaveText('no script');

  await block.getByRole('button', { name: 'Show larger' }).click();
  const dialog = page.getByRole('dialog', { name: 'Preview' });
  await dialog.getByRole('button', { name: 'Run scripts' }).click();
  await expect(dialog.frameLocator('iframe').locator('#out')).toHaveText('script of null, CSS1Compat');
  await dialog.getByRole('button', { name: 'Stop scripts' }).click();
  await expect(dialog.frameLocator('iframe').locator('#out')).toHaveText('no script');
});

test('nothing leaves a page with scripts', async ({ browserLog, chat, context, page, upstream }) => {
  // Chromium reports each refused attempt.
  browserLog.allow(/./);
  const other = await OtherServer.start();
  const blocks = await showCode(chat, upstream, 'html', SCRIPTED_ATTACKS(other.host), ...NAVIGATIONS(other.url));
  const path = page.url();
  await blocks.first().scrollIntoViewIfNeeded();
  await blocks.first().getByRole('button', { name: 'Run scripts' }).click();
  await expect(blocks.first().frameLocator('iframe').locator('#out')).toHaveText(/attempts, undefined, origin null/);
  expect(await other.before(context)).toEqual({ connections: 0, received: [], datagrams: 0 });

  for (const index of NAVIGATIONS('').keys()) {
    const block = blocks.nth(index + 1);
    await block.scrollIntoViewIfNeeded();
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-src'));
    await block.getByRole('button', { name: 'Run scripts' }).click();
    await refused;
    await block.getByRole('button', { name: 'Stop scripts' }).click();
    await expect(block.frameLocator('iframe').locator('p')).toHaveText('Words');
  }
  // Chromium before 152 opens a connection before it refuses a navigation, but sends nothing.
  expect(await other.before(context)).toMatchObject({ received: [], datagrams: 0 });
  expect(page.url()).toBe(path);
  expect(context.pages()).toHaveLength(1);
  await expect(page).toHaveTitle('Show · Parlor');
  await chat.message.fill('still here');
  await expect(chat.message).toHaveValue('still here');
  await other.expectToSeeDatagrams(context);
  other.close();
});
