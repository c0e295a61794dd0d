import { expectAccessible } from '../support/accessibility.ts';
import { waitForPaint } from '../support/paint.ts';
import { expect, test } from '../support/test.ts';

test.describe('with three models', () => {
  test.use({ models: ['small', 'large', 'vendor/odd:free'] });

  test('lists the endpoint’s models', async ({ chat, page }) => {
    await chat.open();
    await chat.model.click();
    await expect(page.getByRole('option')).toHaveText(['small', 'large', 'vendor/odd:free']);
    await page.keyboard.press('Escape');
    await expect(page.getByText('You are talking to a scripted tour')).toHaveCount(0);
  });
});

test('each conversation remembers and uses its model', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Fine' }] });
  await chat.open();
  await chat.chooseModel('words');
  const words = await chat.begin('With words');
  await chat.done();
  await chat.newChat.click();
  await chat.chooseModel('think');
  await chat.begin('With think');
  await chat.done();

  await chat.open(words);
  await expect(chat.model).toHaveAccessibleName('Model: words');
  await chat.say('Again');
  await chat.done();
  await chat.entry('With think').click();
  await expect(chat.model).toHaveAccessibleName('Model: think');
  const chosen = page.waitForResponse('**/rpc/choose_model');
  await chat.chooseModel('markdown');
  await chosen;
  await chat.reload();
  await expect(chat.model).toHaveAccessibleName('Model: markdown');
  await chat.say('Changed');
  await chat.done();

  const asked = await upstream.asked();
  expect(asked.map(({ model, messages }) => [model, messages.at(-1)?.content])).toEqual([
    ['words', 'With words'],
    ['think', 'With think'],
    ['words', 'Again'],
    ['markdown', 'Changed'],
  ]);
});

test('the model gets the conversation without its thinking', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ think: 'Nobody else sees this.' }, { text: 'An answer' }] });
  await chat.open();
  await chat.say('A question');
  await chat.done();
  await chat.say('Another one');
  await chat.done();
  const said = (await upstream.asked())[1]!.messages.filter(({ role }) => role !== 'system');
  expect(said).toEqual([
    { role: 'user', content: 'A question' },
    { role: 'assistant', content: 'An answer' },
    { role: 'user', content: 'Another one' },
  ]);
});

test('recognizes thinking in every form that endpoints send', async ({ chat, upstream }) => {
  await chat.open();
  for (const thinking of ['reasoning_content', 'reasoning', 'parts', 'tags']) {
    await test.step(`recognizes thinking sent as ${thinking}`, async () => {
      const thought = `Considering it as ${thinking}.`;
      await upstream.script({ when: { user_contains: thinking }, thinking, steps: [{ think: thought }, { gate: thinking }, { text: 'Yes.' }] });
      await chat.begin(`Well, ${thinking}?`);
      await expect(chat.answers).toContainText(thought);
      await upstream.open(thinking);
      await expect(chat.answers.getByText('Yes.', { exact: true })).toBeVisible();
      await chat.done();
      await chat.answers.getByText(/^Thought/).click();
      await expect(chat.answers.getByText(thought, { exact: true })).toBeVisible();
    });
  }
});

test('a refused key names endpoint, cause and setting', async ({ chat, page, upstream }) => {
  await chat.open();
  await upstream.requireKey('sk-another');
  await chat.say('Hello');
  const problem = chat.problem;
  await expect(problem).toContainText(`The endpoint “openai” (${upstream.baseUrl}) refused the API key (401)`);
  await expect(problem).toContainText('Set OPENAI_API_KEY to a valid key and restart Parlor.');
  await expect(problem).not.toContainText('sk-test');
  await expectAccessible(page);
  await upstream.requireKey('sk-test');
  await problem.getByRole('button', { name: 'Try again' }).click();
  await expect(chat.answers.getByText('Hello', { exact: true })).toBeVisible();
  await expect(problem).toHaveCount(0);
});

test.describe('with a model that the endpoint does not know', () => {
  test.use({ models: ['ghost', 'echo'] });

  test('Try again uses another model after an unknown one', async ({ chat, upstream }) => {
    await chat.open();
    await chat.say('Hello');
    const problem = chat.problem;
    await expect(problem).toContainText(`The endpoint “openai” (${upstream.baseUrl}) does not know the model “ghost”`);
    await expect(problem).toContainText('Choose another model in the picker at the composer.');
    await chat.chooseModel('echo');
    await problem.getByRole('button', { name: 'Try again' }).click();
    await expect(chat.answers.getByText('Hello', { exact: true })).toBeVisible();
    expect((await upstream.asked()).map(({ model }) => model)).toEqual(['ghost', 'echo']);
  });
});

test('Try again works when an unreachable endpoint returns', async ({ chat, upstream }) => {
  await chat.open();
  await upstream.kill();
  await chat.say('Hello');
  const problem = chat.problem;
  await expect(problem).toContainText(`The endpoint “openai” (${upstream.baseUrl})`);
  await expect(problem).toContainText('nothing answers there (connection refused)');
  await expect(problem).toContainText('Is it running? Its address is set in OPENAI_BASE_URL.');
  await chat.reload();
  await expect(problem).toContainText('nothing answers there (connection refused)');
  await upstream.start();
  await problem.getByRole('button', { name: 'Try again' }).click();
  await expect(chat.answers.getByText('Hello', { exact: true })).toBeVisible();
  await expect(problem).toHaveCount(0);
});

test('an endpoint failure keeps the partial answer', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'The first half' }, { gate: 'cut' }, { cut: null }] });
  await chat.open();
  await chat.say('Hello');
  await expect(chat.answers.getByText('The first half', { exact: true })).toBeVisible();
  await upstream.kill();
  const problem = chat.problem;
  await expect(problem).toContainText('The connection to OpenAI broke. What was written is kept.');
  await expect(problem).toContainText('The endpoint “openai”');
  await expect(chat.answers.getByText('The first half', { exact: true })).toBeVisible();
  await upstream.start();
  await problem.getByRole('button', { name: 'Try again' }).click();
  await expect(chat.answers.getByText('Hello', { exact: true })).toBeVisible();
});

test('shows the model server’s own error message', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ status: { code: 400, body: { error: { message: 'That was too <b>odd</b>' } } } }] });
  await chat.open();
  await chat.say('Hello');
  await expect(chat.problem).toContainText(/refused the request \(400.*\): That was too <b>odd<\/b>\./);
});

test.describe('with an unreachable endpoint', () => {
  test.use({ environment: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' } });

  test('the composer names endpoints that cannot list models', async ({ chat, page }) => {
    await chat.open();
    await expect(page.getByText('No model is connected')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'No model can answer yet' }), 'before anybody has written').toBeVisible();
    await expect(page.getByText('You are talking to a scripted tour')).toHaveCount(0);
    await page.getByRole('button', { name: 'Some models could not be listed' }).click();
    const story = page.getByRole('heading', { name: 'Some models could not be listed' }).locator('..');
    await expect(story).toContainText('The endpoint “openai” (http://127.0.0.1:9/v1)');
    await expect(story).toContainText('Its address is set in OPENAI_BASE_URL.');
    await page.keyboard.press('Escape');
    await expect(story).toBeHidden();
  });
});

test.describe('a model with a long name', () => {
  const name = 'somebody/a-model-with-a-name-as-long-as-some-of-them-really-have:free';

  test.use({ models: [name, 'small'] });

  test('leaves room for the buttons', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Here.\nTABLE: {"columns": ["A"], "rows": [["1"], ["2"]]}\n' }] });
    const check = async () => {
      await expect(page.getByRole('button', { name: /^Context window/ })).toBeVisible();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wide).toBe(0);
      const box = (await page.locator('.composer-box').boundingBox())!;
      for (const button of await page.locator('.composer-bar button:visible').all()) {
        const { x, width } = (await button.boundingBox())!;
        expect(x + width, (await button.getAttribute('aria-label')) ?? '').toBeLessThanOrEqual(box.x + box.width);
        // Nothing covers it.
        await button.click({ trial: true });
      }
    };
    await test.step('on a phone', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await chat.open();
      await chat.say('A table');
      await chat.done();
      await check();
    });
    await test.step('on a desktop, next to the panel', async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await waitForPaint(page);
      await chat.answers.getByRole('button', { name: /^Open:/ }).click();
      await expect(page.locator('#panel')).toBeVisible();
      await check();
    });
  });
});
