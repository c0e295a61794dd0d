import { fileURLToPath } from 'node:url';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, test } from '../support/test.ts';

test.use({
  environment: {
    OPENAI_BASE_URL: undefined,
    OPENAI_API_KEY: undefined,
    PARLOR_CONFIG: fileURLToPath(new URL('../support/undiscovering.toml', import.meta.url)),
  },
});

test('without a model, the tour explains itself and the setup', async ({ chat, page }) => {
  await chat.open();
  await test.step('without a model, explains the tour and the setup', async () => {
    await expect(page.getByRole('heading', { name: 'Connect a model' })).toBeVisible();
    await expect(page.getByText('You are talking to a scripted tour.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Add a model' })).toHaveAttribute('href', '/settings/models');
    await expect(chat.model).toHaveText('Tour (a script, not a model)');
    await expectAccessible(page);
  });
  const answer = chat.answers.last();
  await test.step('the tour thinks, then says that it is scripted', async () => {
    await chat.say('Show me what Parlor can do');
    await expect(answer.getByRole('heading', { name: 'Welcome to Parlor' })).toBeVisible();
    await answer.getByText(/^Thought/).click();
    await expect(answer.getByText('Someone has just opened Parlor for the first time')).toBeVisible();
    await expect(answer.getByText("I'm not a model. I'm a short script")).toBeVisible();
    await chat.done();
  });
  await test.step('the tour shows every kind of Markdown', async () => {
    await chat.say('Show me every kind of Markdown');
    await expect(answer.getByRole('heading', { name: 'Everything at once' })).toBeVisible();
    await expect(answer.getByRole('table')).toBeVisible();
    await expect(answer.getByRole('button', { name: 'Copy code' })).toBeVisible();
    await expect(answer.getByRole('checkbox', { checked: true })).toHaveCount(2);
    await chat.done();
  });
  await test.step('the tour explains how to connect a real model', async () => {
    await chat.say('How do I connect a real model?');
    await expect(answer.getByRole('heading', { name: 'Connecting a real model' })).toBeVisible();
    await expect(answer.getByText('export OPENAI_BASE_URL')).toBeVisible();
    await chat.stop.click();
    await expect(answer.getByText('Stopped', { exact: true })).toBeVisible();
  });
  await test.step('a card asks a spreadsheet, which it attaches', async () => {
    await chat.newChat.click();
    await page.getByRole('button', { name: 'Ask a spreadsheet' }).click();
    await expect(chat.questions.getByText('rain.csv')).toBeVisible();
    await expect(answer.getByRole('img', { name: 'Chart: Rain in three towns' })).toBeVisible();
    await expect(chat.entries).toHaveCount(2);
  });
  await test.step('a card begins two conversations side by side', async () => {
    await chat.newChat.click();
    await page.getByRole('button', { name: 'Two at once' }).click();
    await expect(chat.title).toHaveText('Tell me something long');
    await expect(chat.entry('Show me every kind of Markdown')).toBeVisible();
    await expect(chat.entries).toHaveCount(4);
  });
  await test.step('a tool asks, and is told no', async () => {
    await chat.newChat.click();
    await page.getByRole('button', { name: 'See tools at work' }).click();
    await answer.getByRole('button', { name: 'Deny' }).click();
    await expect(answer.getByText('You said no')).toBeVisible();
    await chat.done();
  });
});

test('the tab can be closed in mid-answer', async ({ chat, newTab, page }) => {
  await chat.open();
  await page.getByRole('button', { name: 'Close the tab mid-answer' }).click();
  await expect(page.getByRole('status').getByText('Close this tab now')).toBeVisible();
  await expect(chat.answers.getByText('Close this tab now')).toBeVisible();
  await expect(chat.entries).toHaveCount(3);
  const url = page.url();
  const again = await newTab();
  await page.close();
  await again.open(new URL(url).pathname);
  // Three answers went on meanwhile: one is written to its end, one has its chart, and one waits for an answer.
  await expect(again.answers.getByText(/And that.s all/)).toBeVisible({ timeout: 60_000 });
  await again.entry('Draw a chart of the rain in three towns').click();
  await expect(again.answers.getByRole('img', { name: 'Chart: Rain in three towns' })).toBeVisible();
  await again.entry('Show me a tool that asks first').click();
  await again.answers.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(again.answers.getByText('584 years and a half')).toBeVisible();
});
