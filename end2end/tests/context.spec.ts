import { expectAccessible } from '../support/accessibility.ts';
import { routeOnce } from '../support/requests.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.describe('the context gauge', () => {
  test.describe('of a known window', () => {
    test.use({ models: [{ id: 'small', max_model_len: 4000 }] });

    test('shows the window’s usage and grows in every tab', async ({ chat, page, upstream }) => {
      await upstream.script({ steps: [{ text: 'Fine.' }, 'done'] });
      await chat.open();
      const gauge = page.getByRole('button', { name: /^Context window/ });
      await expect(gauge).toHaveCount(0);
      await chat.say('Hello');
      await chat.done();
      await expect(gauge).toHaveAccessibleName(/^Context window: \d+ % full$/);
      const percent = async () => Number(/\d+/.exec((await gauge.getAttribute('aria-label'))!)![0]);
      const before = await percent();
      expect(before).toBeGreaterThan(0);
      await chat.say('word '.repeat(1200));
      await chat.done();
      await expect.poll(percent).toBeGreaterThan(before);

      await gauge.click();
      const figures = page.getByText(/^About [\d,]+ of 4,000 tokens \(\d+ %\)$/);
      await expect(figures).toBeVisible();
      await expectAccessible(page);
      await screenshots(page, 'gauge');
      await page.keyboard.press('Escape');
      await expect(figures).toBeHidden();

      const shown = await gauge.getAttribute('aria-label');
      await chat.reload();
      await expect(gauge).toHaveAccessibleName(shown!);
    });
  });

  test('says that an unknown window is unknown', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Fine.' }] });
    await chat.open();
    await chat.say('Hello');
    await chat.done();
    const gauge = page.getByRole('button', { name: 'Context window: use unknown' });
    await gauge.click();
    await expect(page.getByText(/^\d+ tokens\. The size of this model’s context window is unknown/)).toBeVisible();
  });
});

test.describe('the model parameters', () => {
  test('are set per conversation, in every tab, and kept', async ({ chat, newTab, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Fine.' }] });
    await chat.open();
    const path = await chat.begin('Hello');
    await chat.done();
    const other = await newTab();
    await other.open(path);
    await expect(other.page.getByRole('button', { name: 'How the model answers', exact: true })).toBeVisible();

    const button = chat.effort;
    const dialog = page.getByRole('dialog', { name: 'How the model answers' });
    await button.press('Enter');
    await expect(page.getByRole('menuitemradio', { name: 'As the model decides' })).toBeFocused();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await expect(dialog).toBeVisible();
    await dialog.getByLabel('Temperature').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByRole('alert')).toHaveText('The temperature is a number from 0 to 2, not “3”.');
    await expectAccessible(page);
    await screenshots(page, 'parameters');
    await dialog.getByLabel('Temperature').fill('0.3');
    await dialog.getByLabel('Thinking').selectOption('High');
    await dialog.getByLabel('Longest answer').fill('700');
    await dialog.getByLabel('Longest answer').press('Enter');
    await expect(dialog).toBeHidden();
    await expect(button).toBeFocused();
    await expect(button).toHaveAccessibleName('How the model answers (changed)');
    await expect(other.page.getByRole('button', { name: 'How the model answers (changed)' })).toBeVisible();

    await expect(button).toHaveText('High');

    await chat.reload();
    await chat.openParameters();
    await expect(dialog.getByLabel('Temperature')).toHaveValue('0.3');
    await expect(dialog.getByLabel('Thinking')).toHaveValue('high');
    await expect(dialog.getByLabel('Longest answer')).toHaveValue('700');
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();

    await chat.say('And?');
    await chat.done();
    const asked = await upstream.asked();
    expect(asked[0]).not.toHaveProperty('temperature');
    expect(asked[1]).toMatchObject({ temperature: 0.3, reasoning_effort: 'high', max_completion_tokens: 700 });
  });

  test('can be set for a new conversation alone', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Fine.' }] });
    await chat.open();
    const button = chat.effort;
    const dialog = page.getByRole('dialog', { name: 'How the model answers' });
    await chat.openParameters();
    await dialog.getByLabel('Temperature').fill('1.5');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(button).toHaveAccessibleName('How the model answers (changed)');
    await chat.say('Hello');
    await chat.done();
    await expect(button).toHaveAccessibleName('How the model answers (changed)');
    await chat.begin('Another');
    await chat.done();
    await expect(button).toHaveAccessibleName('How the model answers');
    const asked = await upstream.asked();
    expect(asked.map(({ temperature }) => temperature)).toEqual([1.5, undefined]);
  });
});

test.describe('a forced search', () => {
  test.use({ settings: "[tools.web_search]\nprovider = 'searxng'\nurl = 'http://127.0.0.1:9'" });

  test('applies to the next message only', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Fine.' }] });
    await chat.open();
    const search = page.getByRole('button', { name: 'Search the web for the next message' });
    await chat.add('Search the web');
    await expect(search).toHaveAttribute('aria-pressed', 'true');
    await screenshots(page, 'forced-search');
    await chat.say('What is new?');
    await chat.done();
    await expect(search).toBeHidden();
    await chat.say('And?');
    await chat.done();
    const asked = await upstream.asked();
    expect(asked.map(({ tool_choice }) => tool_choice)).toEqual([
      { type: 'function', function: { name: 'web_search' } },
      undefined,
    ]);

    await chat.add('Search the web');
    await chat.newChat.click();
    await expect(search, 'the request applied to the other conversation').toBeHidden();
    await page.goBack();
    await expect(search).toHaveAttribute('aria-pressed', 'true');
  });

  test('returns with a withdrawn message', async ({ browserLog, chat, page, parlor, upstream }) => {
    browserLog.allowLostConnections();
    await upstream.script({ steps: [{ text: 'Fine.' }] });
    await chat.open();
    const search = page.getByRole('button', { name: 'Search the web for the next message' });
    await chat.add('Search the web');
    await parlor.kill();
    await chat.say('What is new?');
    await expect(search).toBeHidden();
    await page.getByRole('button', { name: 'Edit message' }).click();
    await expect(chat.message).toHaveValue('What is new?');
    await expect(search).toHaveAttribute('aria-pressed', 'true');
    await parlor.start();
    await chat.send.click();
    await chat.done();
    expect((await upstream.asked()).map(({ tool_choice }) => tool_choice?.function.name)).toEqual(['web_search']);
  });

  test('stays selected if a pressed suggestion is refused', async ({ browserLog, chat, page, upstream }) => {
    browserLog.allow(/status of 409/);
    const actions = JSON.stringify([{ label: 'Save it', action: 'save', handler: 'server' }]);
    await upstream.script({ steps: [{ text: `Fine.\n\nSUGGESTED_ACTIONS: ${actions}` }] });
    await chat.open();
    await chat.say('Hello');
    await chat.done();
    await page.route('**/rpc/send_message', (route) => route.fulfill({ status: 409, json: { code: 'action_spent', message: 'Not now.' } }));
    const search = page.getByRole('button', { name: 'Search the web for the next message' });
    await chat.add('Search the web');
    await page.getByRole('button', { name: 'Save it' }).click();
    await expect(page.getByText('Not now.')).toBeVisible();
    await expect(search).toHaveAttribute('aria-pressed', 'true');
  });

  test('is cleared once the message proves sent', async ({ browserLog, chat, page }) => {
    browserLog.allow(/status of 500/);
    await chat.open();
    await chat.begin('Hello');
    await chat.done();
    const search = page.getByRole('button', { name: 'Search the web for the next message' });
    // The server stores the message, but reports a failure before the page receives the event.
    let arrived = () => {};
    const held = new Promise<void>((resolve) => (arrived = resolve));
    await routeOnce(page, '**/rpc/send_message', async (route) => {
      await held;
      await route.fulfill({ status: 500, json: { code: 'internal', message: 'Something went wrong.' } });
      await route.fetch();
    });
    await chat.add('Search the web');
    await chat.message.fill('What is new?');
    await chat.message.press('Enter');
    arrived();
    await chat.done();
    await expect(chat.questions.last()).toContainText('What is new?');
    await expect(chat.message).toHaveValue('');
    await expect(search).toBeHidden();
  });

  test('applies to a pressed suggestion', async ({ chat, page, upstream }) => {
    await upstream.script({ steps: [{ text: 'Fine.' }] });
    await chat.open();
    const search = page.getByRole('button', { name: 'Search the web for the next message' });
    await chat.add('Search the web');
    await page.locator('.welcome-cards .suggestion').first().click();
    await chat.done();
    await expect(search).toBeHidden();
    expect((await upstream.asked())[0].tool_choice?.function.name).toBe('web_search');
  });
});

test('has no search button without a search engine', async ({ chat, page }) => {
  await chat.open();
  await expect(page.getByRole('button', { name: 'Attach files' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add files or tools' })).toHaveCount(0);
});
