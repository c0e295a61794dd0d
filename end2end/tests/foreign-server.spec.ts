/**
 * A model server that is not ours: aimock speaks the protocols of OpenAI, Anthropic and Google as its authors read
 * them, and rejects requests that their APIs would reject.
 */
import { LLMock } from '@copilotkit/aimock';
import { expect, test as base } from '../support/test.ts';

const PROVIDERS = [
  { name: 'OpenAI', kind: 'openai', path: '/v1', model: 'gpt-5-mini' },
  { name: 'Anthropic', kind: 'anthropic', path: '', model: 'claude-sonnet-4-5' },
  { name: 'Gemini', kind: 'gemini', path: '/v1beta', model: 'gemini-3-flash-preview' },
];

const test = base.extend<{ mock: LLMock }>({
  mock: async ({}, use) => {
    const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
    for (const { name, model } of PROVIDERS) {
      const clock = { name: 'current_time', arguments: { time_zone: 'Asia/Tokyo' } };
      const asked = { userMessage: `Ask ${name}`, model };
      mock.on({ ...asked, hasToolResult: false }, { reasoning: `${name} needs a clock.`, toolCalls: [clock] });
      mock.on({ ...asked, hasToolResult: true }, { reasoning: `${name} has read it.`, content: `It is late in Tokyo, says ${name}.` });
    }
    await mock.start();
    await use(mock);
    await mock.stop();
  },
  settings: async ({ mock }, use) => {
    // It lists models in OpenAI's protocol only.
    const endpoints = PROVIDERS.map(
      ({ kind, path, model }) =>
        `[[endpoints]]\nname = "${kind}"\nkind = "${kind}"\nbase_url = "${mock.url}${path}"\napi_key_env = "OPENAI_API_KEY"\nmodels = ["${model}"]\n`,
    );
    await use(endpoints.join('\n'));
  },
});

test('one conversation goes over three providers of a foreign server', async ({ chat, mock }) => {
  await chat.open();
  for (const [turn, { name, model }] of PROVIDERS.entries()) {
    await chat.chooseModel(model);
    await chat.say(`Ask ${name}`);
    await chat.done();
    await expect(chat.answers).toHaveCount(turn + 1);
    const answer = chat.answers.last();
    await expect(answer.getByText(`It is late in Tokyo, says ${name}.`, { exact: true })).toBeVisible();
    await answer.getByText(/^Worked/).click();
    await expect(answer.locator('.tool')).toHaveCount(1);
    await expect(answer.getByText(`${name} needs a clock.`, { exact: true })).toBeVisible();
  }
  await chat.reload();
  await expect(chat.answers).toHaveText(PROVIDERS.map(({ name }) => new RegExp(`It is late in Tokyo, says ${name}\\.`)));

  const calls = mock.getRequests().filter(({ method }) => method === 'POST');
  expect(calls.map(({ path, response }) => [path.split('?')[0], response.status])).toEqual(
    ['/v1/chat/completions', '/v1/messages', '/v1beta/models/gemini-3-flash-preview:streamGenerateContent'].flatMap((path) => [
      [path, 200],
      [path, 200],
    ]),
  );
  // The last one got the calls of the others, with their outputs.
  const { messages } = calls.at(-1)!.body as { messages: { role: string; tool_calls?: unknown[] }[] };
  expect(messages.flatMap(({ tool_calls }) => tool_calls ?? [])).toHaveLength(PROVIDERS.length);
  expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(PROVIDERS.length);
});
