/** The way from an empty data folder to the first answer: each step in `target/photos`, with the clicks and the seconds that it takes. */
import { fileURLToPath } from 'node:url';
import type { Locator } from '@playwright/test';
import { expect, test } from '../support/test.ts';

const folder = fileURLToPath(new URL('../../target/photos', import.meta.url));

test.use({
  environment: {
    OPENAI_BASE_URL: undefined,
    OPENAI_API_KEY: undefined,
    PARLOR_CONFIG: fileURLToPath(new URL('../support/undiscovering.toml', import.meta.url)),
  },
  models: ['small'],
});

test('from an empty data folder to the first answer', async ({ chat, page, upstream }, testInfo) => {
  const began = Date.now();
  const steps: string[] = [];
  let clicks = 0;
  const photograph = async (what: string) => {
    steps.push(`${((Date.now() - began) / 1000).toFixed(1)} s, ${clicks} clicks: ${what}`);
    await page.screenshot({ path: `${folder}/first-answer-${steps.length}.png`, animations: 'disabled' });
  };
  const click = async (target: Locator) => {
    clicks += 1;
    await target.click();
  };
  const form = page.getByRole('region', { name: 'Models' }).getByRole('form');
  await upstream.script({ when: {}, steps: [{ text: 'Here I am.' }] });

  await chat.open();
  await photograph('home without a model');
  await click(page.getByRole('link', { name: 'Add a model' }));
  await click(page.getByRole('button', { name: 'Add a model server' }));
  await photograph('the services');
  await click(page.getByRole('button', { name: 'Another server' }));
  await form.getByRole('textbox', { name: 'Name' }).fill('mine');
  await form.getByRole('textbox', { name: 'Address' }).fill(upstream.baseUrl);
  await form.getByLabel('Key').fill('sk-first');
  await click(form.getByRole('button', { name: 'Test' }));
  await expect(form.getByText('It works: 1 model.')).toBeVisible();
  await photograph('address and key, tested');
  await click(form.getByRole('button', { name: 'Save' }));
  await expect(form).toBeHidden();
  await photograph('the service is there');
  await click(chat.newChat);
  await expect(chat.model).toHaveText(/small/);
  await chat.begin('Hello');
  await expect(chat.answers.last()).toContainText('Here I am.');
  await photograph('the first answer');

  await testInfo.attach('steps', { body: steps.join('\n') });
  console.log(steps.join('\n'));
  expect(clicks, 'clicks to the first answer').toBeLessThanOrEqual(6);
});
