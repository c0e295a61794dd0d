import { showCode } from '../support/code.ts';
import { expect, test } from '../support/test.ts';

// A trace takes snapshots of all frames, and would wait for the one that loops.
test.use({ trace: 'off' });

test('an endless loop is stopped', async ({ browserLog, chat, upstream }) => {
  browserLog.allow(/Blocked script execution in/);
  const loop = (start: string) => `<!DOCTYPE html><p>Words</p><script>${start}</script>`;
  const blocks = await showCode(chat, upstream, 'html', loop('setTimeout(() => { for (;;); })'), loop('for (;;);'));
  for (const isStopped of [true, false]) {
    const block = isStopped ? blocks.first() : blocks.last();
    await block.scrollIntoViewIfNeeded();
    await expect(block.frameLocator('iframe').getByText('Words')).toBeVisible();
    await block.getByRole('button', { name: 'Run scripts' }).click();
    await expect(block).toContainText('Its scripts run');
    await chat.message.fill('still here');
    await expect(chat.message).toHaveValue('still here');
    // The one that loops while it loads is stopped without this.
    if (isStopped) await block.getByRole('button', { name: 'Stop scripts' }).click();
    await expect(block).toContainText('Shown without its scripts.');
    await expect(block.frameLocator('iframe').getByText('Words')).toBeVisible();
  }
});

test('a page that floods the chat with messages is stopped', async ({ browserLog, chat, upstream }) => {
  browserLog.allow(/Blocked script execution in/);
  const flood = 'const flood = () => { for (let i = 0; i < 5000; i++) parent.postMessage(i, "*"); setTimeout(flood); }; flood();';
  const block = await showCode(chat, upstream, 'html', `<!DOCTYPE html><p>Words</p><script>${flood}</script>`);
  await block.getByRole('button', { name: 'Run scripts' }).click();
  await expect(block).toContainText('Shown without its scripts.');
  await chat.message.fill('still here');
  await expect(block.frameLocator('iframe').getByText('Words')).toBeVisible();
});
