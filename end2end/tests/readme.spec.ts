/** The README's `make run`, with the default data folder, which is a relative path. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Checkout } from '../support/checkout.ts';
import { test as base, expect } from '../support/test.ts';

const interpreter = fileURLToPath(new URL('../../target/test-python/bin/python', import.meta.url));

const test = base.extend<{ checkout: Checkout }>({
  checkout: async ({}, use) => {
    const withPython = (settings: string) => settings.replace(/^# interpreter = .*$/m, `interpreter = ${JSON.stringify(interpreter)}`);
    const checkout = await Checkout.link(withPython);
    await use(checkout);
    await checkout.dispose();
  },
  baseURL: async ({ checkout, upstream }, use) => {
    const model = { OPENAI_BASE_URL: upstream.baseUrl, OPENAI_API_KEY: 'sk-test' };
    await use(await checkout.make(['run', 'ARGS=--addr 127.0.0.1:0'], model));
  },
});

test('make run serves from another folder, with Python', async ({ chat, checkout, upstream }) => {
  const call = { id: 'call_1', name: 'execute_code', arguments: JSON.stringify({ code: 'print(6 * 7, "in the sandbox")' }) };
  await upstream.script({ when: { user_contains: 'Calculate' }, steps: [{ tool_call: call }] });
  await upstream.script({ when: { tool_gave: '42 in the sandbox' }, steps: [{ text: 'It is forty-two.' }] });
  await chat.open();
  await chat.say('Calculate it');
  await expect(chat.answers.getByText('It is forty-two.')).toBeVisible();
  expect(existsSync(`${checkout.folder}/data/parlor.db`)).toBe(true);
});
