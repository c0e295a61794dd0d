/** Work in one line: thoughts and tool calls, which it opens to in their order. */
import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { mcpSettings } from '../support/mcp.ts';
import { waitForPaint } from '../support/paint.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import type { Chat } from '../support/chat.ts';

const sum = (n: number) => ({ tool_call: { id: `call_${n}`, name: 'calculate', arguments: JSON.stringify({ expression: `${n} + ${n}` }) } });
const clock = (id: string, time_zone: string) => ({ tool_call: { id, name: 'current_time', arguments: JSON.stringify({ time_zone }) } });

const line = (chat: Chat) => chat.answers.locator('.work > .trace > summary');

test('twenty calls are one line, which opens to their order', async ({ chat, page, upstream }) => {
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  await upstream.script({ steps: [{ think: 'I add them up.' }, ...numbers.map(sum)] });
  await upstream.script({ when: { tool_gave: '38' }, steps: [{ text: '\n\n' }, clock('clock', 'Asia/Tokyo')] });
  await upstream.script({ when: { tool_gave: 'UTC+09:00' }, steps: [{ think: 'That is all.' }, { text: 'Done.' }] });
  await chat.open();
  await chat.begin('Add');
  await chat.done();
  for (const look of ['live', 'after a reload']) {
    if (look !== 'live') await chat.reload();
    // Line breaks alone are no text between the calls.
    await expect(line(chat), look).toHaveText(/^Worked( for [\d.]+ s)? · 23 stepsCalculated ×20, Looked at the clock · Show details$/);
    const height = (await chat.answers.locator('.work').boundingBox())!.height;
    expect(height, 'one line').toBeLessThan(40);
    await expect(chat.answers.locator('.tool').filter({ visible: true })).toHaveCount(0);
    if (look === 'live') await screenshots(page, 'work-closed');
    await line(chat).focus();
    await page.keyboard.press('Enter');
    const steps = chat.answers.locator('.trace-steps > *');
    await expect(steps).toHaveCount(23);
    await expect(steps.first()).toHaveText('I add them up.');
    await expect(steps.nth(1)).toContainText('0 + 0');
    await expect(steps.nth(20)).toContainText('19 + 19');
    await expect(steps.nth(21)).toContainText('Looked at the clock');
    await expect(steps.last()).toHaveText('That is all.');
    await expect(chat.answers.locator('.work > .trace')).toHaveAttribute('open', '');
  }
  await steps(chat).nth(21).locator('summary').click();
  await expect(steps(chat).getByRole('definition').filter({ visible: true })).toHaveText('Asia/Tokyo');
  await screenshots(page, 'work-open');
  await expectAccessibleInBothThemes(page);
});

const steps = (chat: Chat) => chat.answers.locator('.trace-steps > *');

test.describe('with an external tool', () => {
  test.use({ settings: mcpSettings('never') });

  test('shows the latest thought and the active calls, and stays open', async ({ chat, page, upstream }) => {
    const wait = { tool_call: { id: 'wait', name: 'desk_wait', arguments: '{"text":"for ever"}' } };
    await upstream.script({ steps: [{ think: 'One thing.' }, sum(1), wait] });
    await chat.open();
    await chat.begin('Try it');
    await expect(line(chat)).toContainText('WorkingOne thing.');
    const active = chat.answers.locator('.work > .tool');
    await expect(active).toHaveCount(1);
    await expect(active).toContainText('Calling wait');
    await screenshots(page, 'work-running');
    await line(chat).click();
    await expect(active, 'it is among the steps').toHaveCount(0);
    await expect(steps(chat)).toHaveText(['One thing.', /^Calculated/, /^Calling wait/]);
    await chat.stop.click();
    await chat.done();
    await expect(steps(chat)).toHaveText(['One thing.', /^Calculated/, /^wait stopped/]);
    await expect(line(chat)).toContainText('3 steps');
    await expect(chat.answers).not.toContainText(/Calling|Working/);
  });

  test('an opened call stays open when it becomes a step', async ({ chat, upstream }) => {
    await upstream.script({ steps: [{ text: 'Well.' }, sum(1)] });
    await upstream.script({ when: { tool_gave: '2' }, steps: [{ gate: 'more' }, sum(2)] });
    await upstream.script({ when: { tool_gave: '4' }, steps: [{ gate: 'rest' }, { text: 'Done.' }] });
    await chat.open();
    await chat.begin('Add');
    const card = chat.answers.locator('.tool').first();
    await expect(card.locator('summary')).toContainText('Calculated');
    await card.locator('summary').click();
    await expect(card.locator('code').first()).toHaveText('1 + 1');
    await upstream.open('more');
    await upstream.reached('rest');
    await expect(steps(chat)).toHaveCount(2);
    await expect(steps(chat).first().locator('code').first()).toBeVisible();
    await upstream.open('rest');
    await chat.done();
    await waitForPaint(chat.page);
    await expect(steps(chat).first().locator('code').first()).toBeVisible();
  });

  test('what there is to look at stays in its place', async ({ chat, page, upstream }) => {
    const echo = (id: string, text: string) => ({ tool_call: { id, name: 'desk_echo', arguments: JSON.stringify({ text }) } });
    const draw = { tool_call: { id: 'draw', name: 'desk_draw', arguments: '{"text":"a landscape"}' } };
    const rows = JSON.stringify([{ port: 'Kiel', range: 0.1 }, { port: 'Saint-Malo', range: 12 }]);
    await upstream.script({
      steps: [{ think: 'I try.' }, echo('1', 'x'), clock('2', 'Mars/Olympus'), echo('3', 'y'), echo('4', rows), draw],
    });
    await upstream.script({ when: { tool_gave: '' }, steps: [{ text: 'That is it.' }] });
    await chat.open();
    await chat.begin('Try it');
    await chat.done();
    for (const look of ['live', 'after a reload']) {
      if (look !== 'live') await chat.reload();
      const sections = chat.answers.locator(':scope > :is(.work, .tool, .prose)');
      await expect(sections, look).toHaveText([/^Worked/, /^Looking at the clock failed.*no time zone/, /^Worked/, /^Called draw/, 'That is it.']);
      await expect(chat.answers.getByRole('img', { name: 'draw-1.png' })).toBeVisible();
    }
    await screenshots(page, 'work-cards');
    await line(chat).nth(1).click();
    await steps(chat).filter({ hasText: 'Saint-Malo', visible: true }).locator('summary').click();
    const table = steps(chat).getByRole('table').filter({ visible: true });
    await expect(table.getByRole('row')).toHaveText([/port/, /Kiel/, /Saint-Malo/]);
    await screenshots(page, 'work-table');
  });
});
