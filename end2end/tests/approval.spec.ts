import { callTool, mcpSettings } from '../support/mcp.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

test.describe('a tool that needs approval', () => {
  test.use({ settings: mcpSettings('ask') });

  test.beforeEach(async ({ upstream }) => {
    await upstream.script({ steps: [{ text: 'As you like.' }] });
    await upstream.script(callTool('desk_echo', 'first'));
    await upstream.script({ when: { tool_gave: '' }, steps: [{ text: 'So be it.' }] });
  });

  test('waits through a restart and is answered once', async ({ browserLog, chat, parlor, newTab }) => {
    browserLog.allowLostConnections();
    await chat.open();
    const path = await chat.begin('Try it');
    const ask = chat.answers.getByRole('group', { name: 'Allow this?' });
    await expect(ask).toBeVisible();
    await expect(chat.answers.locator('.tool')).toContainText('first');
    await expect(chat.answers.locator('.tool').getByRole('definition'), 'all that is asked is shown').toBeVisible();
    await screenshots(chat.page, 'approval');
    await chat.reload();
    await expect(ask).toBeVisible();
    await parlor.restart();
    const other = await newTab();
    await other.open();
    await expect(other.entries.first().getByText('waits for you')).toBeAttached();
    await other.open(path);
    await other.answers.getByRole('button', { name: 'Allow', exact: true }).click();
    for (const tab of [other, chat]) {
      await expect(tab.answers.getByText('So be it.')).toBeVisible();
      await expect(tab.answers.getByRole('group', { name: 'Allow this?' })).toHaveCount(0);
      await expect(tab.answers.getByText('Done:')).toBeAttached();
    }
  });

  test('does not run when denied, and the model is told', async ({ chat, upstream }) => {
    await chat.open();
    await chat.begin('Try it');
    await chat.answers.getByRole('button', { name: 'Deny' }).click();
    await expect(chat.answers.getByText('So be it.')).toBeVisible();
    await expect(chat.answers.getByText('echo not allowed', { exact: true })).toBeVisible();
    const told = (await upstream.asked()).at(-1)!.messages.at(-1)!;
    expect(told.content).toContain('did not allow');
  });

  test('can be always allowed for one conversation only', async ({ chat }) => {
    await chat.open();
    await chat.begin('Try it');
    await chat.answers.getByRole('button', { name: 'Always in this conversation' }).click();
    await expect(chat.answers.getByText('So be it.')).toBeVisible();
    await chat.say('Try it again');
    await expect(chat.answers.getByText('So be it.')).toHaveCount(2);
    await chat.begin('Try it elsewhere');
    await expect(chat.answers.getByRole('group', { name: 'Allow this?' })).toBeVisible();
    await chat.stop.click();
    await expect(chat.answers.getByText('Stopped', { exact: true }).last()).toBeVisible();
    await expect(chat.answers.getByRole('group', { name: 'Allow this?' })).toHaveCount(0);
  });
});

test.describe('a tool that never ends', () => {
  test.use({ settings: mcpSettings('never') });

  test('is ended by a stop in any tab', async ({ chat, upstream, newTab }) => {
    await upstream.script(callTool('desk_wait', 'for ever'));
    await chat.open();
    const path = await chat.begin('Try it');
    await expect(chat.answers.locator('.tool summary')).toContainText('for ever');
    const other = await newTab();
    await other.open(path);
    await other.stop.click();
    for (const tab of [other, chat]) {
      await expect(tab.answers.getByText('Stopped', { exact: true }).last()).toBeVisible();
      await expect(tab.answers.locator('.tool summary')).toContainText('wait stopped');
      await expect(tab.answers).toContainText('Let me try.');
    }
    await chat.reload();
    await expect(chat.answers.locator('.tool summary')).toContainText('wait stopped');
  });
});
