/** Model servers that are added in the settings: from no model to the first answer, without a restart. */
import { fileURLToPath } from 'node:url';
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { screenshots } from '../support/screenshots.ts';
import { makeAccount, makeFirstAccount } from '../support/accounts.ts';
import { Chat } from '../support/chat.ts';
import { Settings } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

test.use({
  environment: {
    OPENAI_BASE_URL: undefined,
    OPENAI_API_KEY: undefined,
    PARLOR_CONFIG: fileURLToPath(new URL('../support/undiscovering.toml', import.meta.url)),
  },
  models: [['small', 'large', 'text-embedding-tiny', ...Array.from({ length: 9 }, (_, number) => `other-${number}`)], { scope: 'test' }],
});

test('from no model to the first answer', async ({ chat, newTab, page, upstream }) => {
  const models = page.getByRole('region', { name: 'Models' });
  const servers = models.getByRole('listitem');
  const form = models.getByRole('form');
  await upstream.script({ when: {}, steps: [{ text: 'Here I am.' }] });
  const other = await newTab();
  await other.open();
  await page.bringToFront();
  await chat.open();
  await page.getByRole('link', { name: 'Add a model' }).click();
  await expect(models.getByText('None yet.')).toBeVisible();

  await test.step('a tile fills in what is known', async () => {
    await models.getByRole('button', { name: 'Add a model server' }).click();
    await expect(models.getByRole('button', { name: 'Anthropic' })).toBeFocused();
    await screenshots(page, 'endpoints-tiles');
    await models.getByRole('button', { name: 'Ollama' }).click();
    await expect(form.getByRole('textbox', { name: 'Name' })).toHaveValue('ollama');
    await expect(form.getByRole('textbox', { name: 'Address' })).toBeFocused();
  });
  await test.step('a test says what is wrong', async () => {
    await form.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/v1');
    await form.getByRole('button', { name: 'Test' }).click();
    await expect(form.getByText('Nothing answers at this port.')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await screenshots(page, 'endpoints-problem');
  });
  await test.step('a test finds the models, of which some are hidden', async () => {
    await form.getByRole('textbox', { name: 'Address' }).fill(upstream.baseUrl);
    await form.getByRole('button', { name: 'Test' }).click();
    await expect(form.getByText('It works: 12 models.')).toBeVisible();
    await expect(form.getByRole('checkbox', { name: 'large' })).toBeChecked();
    await expect(form.getByRole('checkbox', { name: 'text-embedding-tiny' })).not.toBeChecked();
    await form.getByRole('searchbox', { name: 'Search the models' }).fill('LARGE');
    await expect(form.getByRole('checkbox')).toHaveCount(1);
    await form.getByRole('checkbox', { name: 'large' }).uncheck();
    await form.getByRole('searchbox').fill('');
    await expectAccessibleInBothThemes(page);
    await screenshots(page, 'endpoints-models');
  });
  await test.step('its models are there at once, in every tab', async () => {
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toBeHidden();
    await expect(servers).toHaveCount(1);
    await expect(servers).toContainText('2 models hidden');
    await screenshots(page, 'endpoints-list');
    await chat.newChat.click();
    await expect(chat.model).not.toHaveText(/Tour/);
    await chat.begin('Hello');
    await expect(chat.answers.last()).toContainText('Here I am.');
    await chat.done();
    await other.page.bringToFront();
    await expect(other.model).not.toHaveText(/Tour/);
  });
  await test.step('a removed server takes its models along', async () => {
    await page.bringToFront();
    await new Settings(page).open('/settings/models');
    await servers.getByRole('button', { name: 'Remove “ollama”' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect(models.getByText('None yet.')).toBeVisible();
    await chat.newChat.click();
    await expect(chat.model).toHaveText(/Tour/);
  });
});

test('a refused key leads to its form', async ({ chat, page, upstream }) => {
  await upstream.script({ when: {}, steps: [{ text: 'Here I am.' }] });
  await upstream.requireKey('sk-right');
  await new Settings(page).open('/settings/models');
  const form = page.getByRole('region', { name: 'Models' }).getByRole('form');
  await page.getByRole('button', { name: 'Add a model server' }).click();
  await page.getByRole('button', { name: 'Another server' }).click();
  await form.getByRole('textbox', { name: 'Name' }).fill('our work');
  await form.getByRole('textbox', { name: 'Address' }).fill(upstream.baseUrl);
  await form.getByLabel('Key').fill('sk-right');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
  await chat.newChat.click();
  await upstream.requireKey('sk-newer');
  await chat.begin('Hello');
  await expect(chat.problem).toContainText('The model server “our work” did not accept the key.');
  await screenshots(page, 'problem-key');
  await chat.problem.getByRole('link', { name: 'Check the key' }).click();
  await expect(form.getByRole('textbox', { name: 'Name' })).toHaveValue('our work');
  await expect(form.getByLabel('Key')).toBeFocused();
  await expect(form.getByText('The key is not valid for this address.')).toBeVisible();
  await form.getByLabel('Key').fill('sk-newer');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.goBack();
  await chat.problem.getByRole('button', { name: 'Try again' }).click();
  await expect(chat.answers.getByText('Here I am.')).toBeVisible();
});

test.describe('on Parlor’s machine', () => {
  test.use({
    environment: { OPENAI_BASE_URL: undefined, OPENAI_API_KEY: undefined },
    settings: async ({ upstream }, use) => {
      // Nothing runs when Parlor starts.
      await upstream.kill();
      const nothing = 'http://127.0.0.1:9/v1';
      const others = ['lmstudio', 'llama.cpp', 'vllm'].map((name) => `"${name}" = "${nothing}"\n`);
      await use(`[models.local]\nollama = "${upstream.baseUrl}"\n${others.join('')}`);
    },
  });

  test('a server is found, and one that starts later appears by itself', async ({ chat, page, upstream }) => {
    await chat.open();
    await expect(chat.model).toHaveText(/Tour/);
    await screenshots(page, 'home-without-model');
    await page.getByRole('link', { name: 'Find Ollama' }).click();
    const found = page.getByRole('list', { name: 'Found on Parlor’s machine' });
    await expect(found.getByRole('listitem').first()).toContainText('OllamaNothing answers at this port.');
    await expectAccessibleInBothThemes(page);
    await page.goBack();
    await expect(chat.model).toHaveText(/Tour/);

    await upstream.start();
    await expect(chat.model, 'nobody has done anything').not.toHaveText(/Tour/);
    await expect(page.getByRole('heading', { name: 'Connect a model' })).toHaveCount(0);
    await new Settings(page).open('/settings/models');
    await page.getByRole('button', { name: 'Add a model server' }).click();
    await page.getByRole('button', { name: 'Find one on Parlor’s machine' }).click();
    await expect(found.getByRole('listitem').first()).toContainText('It is here');
    await screenshots(page, 'endpoints-found');
    await found.getByRole('button', { name: 'Add “Ollama”' }).click();
    await expect(page.getByRole('form').getByText(/^It works: /)).toBeVisible();
  });
});

test.describe('with accounts', () => {
  test.use({
    environment: { PARLOR_AUTH: 'password', OPENAI_BASE_URL: undefined, OPENAI_API_KEY: undefined },
    settings: '[models]\ndiscover = false\n',
  });

  test('people add keys of their own once an administrator allows it', async ({ browser, page, parlor, upstream }) => {
    await makeFirstAccount(page, parlor, 'ann');
    await new Chat(page).ready();
    const settings = new Settings(page);
    await settings.open('/settings/models');
    const form = page.getByRole('form');
    await page.getByRole('button', { name: 'Add a model server' }).click();
    await page.getByRole('button', { name: 'Another server' }).click();
    await form.getByRole('textbox', { name: 'Name' }).fill('house');
    await form.getByRole('textbox', { name: 'Address' }).fill(upstream.baseUrl);
    await form.getByLabel('Key', { exact: true }).fill('sk-of-the-house');
    await form.getByRole('checkbox', { name: 'People may use keys of their own at this address' }).check();
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toBeHidden();
    const allow = page.getByRole('switch', { name: 'People may add keys of their own' });
    await allow.click();
    await expect(allow).toBeChecked();
    await expect(page.getByRole('heading', { name: 'Your own keys' })).toBeVisible();
    await screenshots(page, 'own-keys-administrator');

    await settings.open('/settings/invitations');
    await page.getByRole('button', { name: 'Make an invitation link' }).click();
    const link = page.getByRole('textbox', { name: 'Link' });
    await expect(link).toHaveValue(/\/invitation\//);
    const path = new URL(await link.inputValue()).pathname;
    const context = await browser.newContext({ baseURL: parlor.url });
    const other = await context.newPage();
    await other.goto(path);
    await makeAccount(other, 'ben');
    const chat = new Chat(other);
    await chat.ready();
    await chat.model.click();
    await other.getByRole('link', { name: 'Add a model' }).click();
    const own = other.getByRole('region', { name: 'Your own keys' });
    await own.getByRole('button', { name: 'Add a key' }).click();
    await expect(other.getByRole('region', { name: 'Models' })).toHaveCount(0);
    await screenshots(other, 'own-keys-services');
    await own.getByRole('button', { name: 'house' }).click();
    await expect(own.getByLabel('Key', { exact: true })).toBeFocused();
    await expect(own.getByRole('textbox', { name: 'Address' })).toHaveCount(0);
    await own.getByLabel('Key', { exact: true }).fill('sk-of-ben');
    await own.getByRole('button', { name: 'Test' }).click();
    await expect(own.getByText(/^It works: /)).toBeVisible();
    await own.getByRole('button', { name: 'Save' }).click();
    await expect(own.getByRole('listitem')).toContainText('my house');
    await expectAccessibleInBothThemes(other);
    await screenshots(other, 'own-keys');
    await chat.newChat.click();
    await chat.model.click();
    await expect(other.getByRole('group', { name: 'my house' }).getByRole('option').first()).toBeVisible();
    await context.close();
  });
});
