/** The settings page: instructions, memories, API tokens. */
import { expectAccessible, expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { Settings } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';
import type { Chat } from '../support/chat.ts';

/** Makes the model remember texts, each in its own conversation. */
async function remember(chat: Chat, upstream: Upstream, texts: string[]): Promise<void> {
  await upstream.script({ when: { tool_gave: 'remembered' }, steps: [{ text: 'Noted.' }] });
  for (const [index, text] of texts.entries()) {
    const call = { id: `call_${index}`, name: 'remember', arguments: JSON.stringify({ text }) };
    await upstream.script({ when: { user_contains: text }, steps: [{ tool_call: call }] });
    await chat.begin(text);
    await chat.done();
  }
}

test('opens from anywhere, loads its code and leads back', async ({ chat, page }) => {
  const settings = new Settings(page);
  await chat.open();
  const path = await chat.begin('Hello');
  await chat.done();
  const part = page.waitForResponse((response) => response.url().endsWith('/split_settings.wasm'));
  await chat.list.getByRole('link', { name: 'Settings' }).click();
  await part;
  await expect(chat.title).toHaveText('Settings');
  await expect(page).toHaveTitle('Settings · Parlor');
  await expect(page).toHaveURL('/settings');
  await expect(settings.region).toBeFocused();
  await expect(chat.message).toBeHidden();
  await settings.back.click();
  await expect(page).toHaveURL(path);
  await expect(chat.message).toBeVisible();
  await page.goBack();
  await expect(settings.instructions).toBeVisible();
  await chat.newChat.click();
  await expect(chat.title).toHaveText('New chat');
});

test('tabs are pages of their own, and Back leads out of all of them', async ({ chat, page }) => {
  const settings = new Settings(page);
  await chat.open();
  const path = await chat.begin('Hello');
  await chat.done();
  await chat.list.getByRole('link', { name: 'Settings' }).click();
  await expect(settings.tab('General')).toHaveAttribute('aria-current', 'page');
  for (const name of ['Memories', 'Usage', 'API tokens']) {
    await settings.tab(name).click();
    await expect(page.getByRole('heading', { level: 2, name })).toBeVisible();
    await expect(settings.tab(name)).toHaveAttribute('aria-current', 'page');
    await expect(page).toHaveTitle(`${name} · Settings · Parlor`);
  }
  await expect(settings.tab('Account'), 'there are no accounts').toHaveCount(0);
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'By day', exact: true })).toBeVisible();
  await settings.back.click();
  await expect(page).toHaveURL(path);
});

test('instructions are saved, shared and sent to the model', async ({ chat, newTab, page, upstream }) => {
  const settings = new Settings(page);
  const other = new Settings((await newTab()).page);
  await settings.open();
  await settings.instructions.fill('I am a nurse.');
  await expect(settings.note).toHaveText('Not saved yet. Kept in this browser.');
  await other.open();
  await expect(other.note, 'the draft is the browser’s').toHaveText('Not saved yet. Kept in this browser.');
  await other.page.getByRole('button', { name: 'Discard changes' }).click();
  await expect(other.instructions).toHaveValue('');

  await page.bringToFront();
  await settings.save.click();
  await expect(settings.note).toHaveText('Saved');
  await expect(other.instructions).toHaveValue('I am a nurse.');
  await settings.reload();
  await expect(settings.instructions).toHaveValue('I am a nurse.');

  await chat.newChat.click();
  await chat.say('Hello');
  await chat.done();
  const [asked] = await upstream.asked();
  expect(asked.messages[0].content).toContain('I am a nurse.');
});

test('unsaved instructions survive navigation, reloads and other tabs', async ({ chat, newTab, page }) => {
  const settings = new Settings(page);
  await settings.open();
  await settings.instructions.fill('Mine');
  await chat.newChat.click();
  await expect(chat.title).toHaveText('New chat');
  await page.goBack();
  await expect(settings.instructions).toHaveValue('Mine');
  await settings.reload();
  await expect(settings.instructions).toHaveValue('Mine');

  const other = new Settings((await newTab()).page);
  await other.open();
  await other.instructions.fill('Theirs');
  await other.save.click();
  await expect(other.note).toHaveText('Saved');
  await page.bringToFront();
  await expect(settings.note).toContainText('changed elsewhere');
  await expect(settings.instructions).toHaveValue('Mine');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect(settings.instructions).toHaveValue('Theirs');
});

test('a failed save keeps the text and says why', async ({ browserLog, page }) => {
  browserLog.allowLostConnections();
  const settings = new Settings(page);
  await settings.open();
  await settings.instructions.fill('x'.repeat(8200));
  await expect(settings.note).toHaveText('8 bytes too long: there is room for 8,192.');
  await expect(settings.save).toHaveAttribute('aria-disabled', 'true');
  await settings.instructions.fill('Short');
  await page.route('**/rpc/save_instructions', (route) => route.abort());
  await settings.save.click();
  await expect(page.getByRole('alert').filter({ hasText: 'Not saved.' })).toBeVisible();
  await expect(settings.instructions).toHaveValue('Short');
  await page.unroute('**/rpc/save_instructions');
  await settings.save.click();
  await expect(settings.note).toHaveText('Saved');
});

test('memories appear by themselves, can be deleted and restored', async ({ chat, newTab, page, upstream }) => {
  const settings = new Settings(page);
  await settings.open('/settings/memories');
  await expect(page.getByText('Nothing yet. Tell the assistant')).toBeVisible();
  const elsewhere = await newTab();
  await elsewhere.open();
  await remember(elsewhere, upstream, ['She likes tea.', 'She has a dog.']);
  await page.bringToFront();
  await expect(settings.memories).toContainText(['She has a dog.', 'She likes tea.']);

  const tea = settings.memories.filter({ hasText: 'tea' });
  await tea.getByRole('button', { name: 'Forget “She likes tea.”' }).click();
  const undo = tea.getByRole('button', { name: 'Undo “She likes tea.”' });
  await expect(undo).toBeFocused();
  await undo.press('Enter');
  await expect(tea.getByRole('button', { name: 'Forget' })).toBeFocused();
  await settings.reload();
  await expect(settings.memories).toContainText(['She has a dog.', 'She likes tea.']);
  await tea.getByRole('button', { name: 'Forget' }).click();
  await expect(undo).toBeFocused();
  await settings.reload();
  await expect(settings.memories).toHaveText([/She has a dog\./]);

  await page.getByRole('button', { name: 'Forget everything' }).click();
  const dialog = page.getByRole('dialog', { name: 'Forget everything?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(settings.memories).toHaveCount(1);
  await page.getByRole('button', { name: 'Forget everything' }).click();
  await dialog.getByRole('button', { name: 'Forget everything' }).click();
  await expect(settings.memories).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Memories' })).toBeFocused();
  await settings.reload();
  await expect(page.getByText('Nothing yet. Tell the assistant')).toBeVisible();
  await chat.newChat.click();
});

test('many memories can be searched', async ({ chat, page, upstream }) => {
  test.slow();
  const settings = new Settings(page);
  await chat.open();
  const texts = ['tea', 'Dogs', 'cats', 'red wine', 'trains', 'the sea', 'Bach', 'chess'].map((what) => `She likes ${what}.`);
  await remember(chat, upstream, texts);
  await chat.list.getByRole('link', { name: 'Settings' }).click();
  await settings.tab('Memories').click();
  await expect(settings.memories).toHaveCount(8);
  await settings.search.fill('likes dog');
  await expect(settings.memories).toHaveText([/She likes Dogs\./]);
  await settings.search.fill('no such thing');
  await expect(page.getByText('No memory contains these words.')).toBeVisible();
  await settings.search.fill('');
  await expect(settings.memories).toHaveCount(8);
});

test.describe('with memory switched off', () => {
  test.use({ settings: '[tools]\ndisabled = ["remember"]' });

  test('the page says so', async ({ page }) => {
    await new Settings(page).open('/settings/memories');
    await expect(page.getByText('Remembering is switched off in this server’s settings')).toBeVisible();
  });
});

test('a token is shown once and ends when revoked', async ({ context, page, parlor, request }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const settings = new Settings(page);
  await settings.open('/settings/tokens');
  await expect(page.getByText('Authorization: Bearer parlor_…')).toBeVisible();
  const token = await settings.makeToken('My script', 'For 90 days');
  expect(token).toMatch(/^parlor_[0-9a-f]{64}$/);
  await expect(settings.made).toBeFocused();
  await settings.made.getByRole('button', { name: 'Copy the token' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
  await expectAccessible(page);
  await screenshots(page, 'settings-token');
  await settings.made.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('heading', { name: 'API tokens' })).toBeFocused();
  await expect(settings.tokens).toHaveText([/My script.*parlor_[0-9a-f]{6}….*not used yet.*expires/]);

  const headers = { authorization: `Bearer ${token}`, origin: 'https://elsewhere.example' };
  const ask = () => request.post(`${parlor.url}/api/runs/0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11/stop`, { headers });
  expect((await ask()).status()).toBe(404);
  await expect(async () => {
    await settings.reload();
    await expect(settings.tokens).toHaveText([/My script.*last used/], { timeout: 1000 });
  }).toPass();
  expect(await page.content(), 'nobody sees it again').not.toContain(token);

  await page.getByRole('button', { name: 'Revoke “My script”' }).click();
  await page.getByRole('dialog', { name: 'Revoke “My script”?' }).getByRole('button', { name: 'Revoke' }).click();
  await expect(settings.tokens).toHaveCount(0);
  await expect.poll(async () => (await ask()).status()).toBe(401);
  expect(parlor.output).not.toContain(token.slice(0, 20));
});

test('a failed load says so and is retried', async ({ browserLog, chat, page }) => {
  browserLog.allowLostConnections();
  await chat.open();
  await page.route('**/rpc/personal*', (route) => route.abort());
  await chat.list.getByRole('link', { name: 'Settings' }).click();
  const failure = page.getByRole('alert').filter({ hasText: 'The settings could not be loaded' });
  await expect(failure).toBeVisible();
  await page.unroute('**/rpc/personal*');
  await failure.getByRole('button', { name: 'Try again' }).click();
  await expect(new Settings(page).instructions).toBeVisible();
});

test('is accessible in either theme', async ({ chat, page, upstream }) => {
  test.slow();
  const settings = new Settings(page);
  await settings.open();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, `settings-empty`);
  await chat.newChat.click();
  await remember(chat, upstream, ['She likes tea.', 'She has a dog, whose name is Rex, and who does not like the rain at all.']);
  await settings.open();
  await settings.instructions.fill('I am a nurse.\n\nAnswer briefly.');
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'settings');
  await settings.tab('Usage').click();
  await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'settings-usage');
  await settings.tab('Memories').click();
  await settings.memories.first().getByRole('button', { name: 'Forget' }).click();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'settings-memories');
  await settings.tab('API tokens').click();
  await settings.makeToken('A script');
  await settings.made.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke “A script”' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await screenshots(page, 'settings-revoke');
});

test('fits on a phone and opens from the drawer', async ({ chat, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const settings = new Settings(page);
  await chat.open();
  await page.getByRole('button', { name: 'Conversations' }).click();
  await chat.list.getByRole('link', { name: 'Settings' }).click();
  await expect(settings.region).toBeFocused();
  await expect(chat.list).toBeHidden();
  await expect(settings.instructions, 'the list of tabs is a screen of its own').toBeHidden();
  await settings.tab('General').click();
  await expect(settings.instructions).toBeVisible();
  await expect(settings.region).toBeFocused();
  await settings.up.click();
  await expect(page).toHaveURL('/settings');
  await settings.tab('API tokens').click();
  await expect(settings.tab('API tokens')).toBeHidden();
  await settings.makeToken('A script with a name that is rather long, longer than a telephone is wide');
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(await overflow()).toBe(0);
  expect(await settings.region.evaluate((region) => region.scrollWidth - region.clientWidth)).toBe(0);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the settings can be read', async ({ page, parlor, request }) => {
    const saved = await request.post(`${parlor.url}/rpc/save_instructions`, { data: { text: 'I am a nurse.' } });
    expect(saved.ok()).toBe(true);
    await page.goto('/settings');
    await expect(page.getByText('I am a nurse.')).toBeVisible();
    await expect(page.getByText('Without scripts, the settings can be read here')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Save' })).toBeHidden();
  });
});

test('a draft keeps its height after visiting the settings', async ({ chat, page }) => {
  await chat.open();
  await chat.say('Hello');
  await chat.done();
  await chat.message.fill('one\ntwo\nthree');
  const height = async () => (await chat.message.boundingBox())!.height;
  const before = await height();
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(chat.message).toBeHidden();
  await page.getByRole('link', { name: 'Back' }).click();
  await expect(chat.message).toHaveValue('one\ntwo\nthree');
  await expect.poll(height).toBe(before);
});
