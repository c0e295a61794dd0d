/** Charts, tables and changes of documents in the answer itself. */
import { expectAccessible } from '../support/accessibility.ts';
import type { Chat } from '../support/chat.ts';
import { layoutShifts, recordLayoutShifts } from '../support/layout-shift.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import type { Upstream } from '../support/upstream.ts';

const CHART = `CHART: ${JSON.stringify({
  title: 'Weather', kind: 'line', x: ['May', 'June', 'July'],
  series: [{ name: 'Rain', values: [12000, 30000, null] }, { name: 'Sun', values: [20000, 4000, 26000] }],
})}`;
const TABLE = `TABLE: ${JSON.stringify({
  title: 'Planets', columns: ['Name', 'Moons', 'A note that is longer than the others', 'Discovered by', 'Year', 'Radius'],
  rows: Array.from({ length: 12 }, (_, index) => [`Planet ${index}`, index, 'It is far away, and nobody has been there.', 'Somebody', 1900 + index, 1000 * index]),
})}`;

async function answer(chat: Chat, upstream: Upstream): Promise<void> {
  await upstream.script({ when: { user_contains: 'Compare' }, steps: [{ text: `Here.\n\n${CHART}\n\nAnd a table:\n\n${TABLE}\n\n` }, { gate: 'rest' }, { text: 'Good?' }] });
  await upstream.script({ when: { user_contains: 'Warm up' }, steps: [{ text: 'TABLE: {"columns":["a"],"rows":[[1]]}' }] });
  await chat.open();
  await chat.begin('Warm up');
  await chat.done();
  // The code of cards and previews is loaded.
  await expect(chat.answers.getByRole('cell')).toBeVisible();
  await recordLayoutShifts(chat.page);
  await chat.say('Compare');
  const { page } = chat;
  await expect(chat.answers.last().getByRole('img', { name: 'Chart: Weather' })).toBeVisible();
  await expect(chat.answers.last().getByRole('cell', { name: 'Planet 4' })).toBeVisible();
  await upstream.open('rest');
  await chat.done();
  expect(await layoutShifts(page)).toEqual([]);
  await expect(page.locator('#panel')).toHaveCount(0);
}

test('a chart and a table are shown in the answer, and nothing moves', async ({ chat, page, upstream }) => {
  await answer(chat, upstream);
  const last = chat.answers.last();
  await expect(last.getByRole('row')).toHaveCount(6);
  await expectAccessible(page);
  await screenshots(page, 'inline-payloads');

  await last.getByRole('button', { name: '7 more rows' }).click();
  await expect(page.locator('#panel').getByRole('row')).toHaveCount(13);
  await page.keyboard.press('Escape');

  await chat.reload();
  await expect(last.getByRole('img', { name: 'Chart: Weather' })).toBeVisible();
  await expect(last.getByRole('cell', { name: 'Planet 4' })).toBeVisible();
});

test('the first card of a page moves nothing', async ({ chat, page, upstream }) => {
  await upstream.script({ when: { user_contains: 'Compare' }, steps: [{ text: `Here.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | last |\n\n${CHART}\n\n${TABLE}\n\nWords after them.` }, { gate: 'rest' }, { text: ' Good?' }] });
  await upstream.script({ when: { user_contains: 'Warm up' }, steps: [{ text: 'Yes.' }] });
  await chat.open();
  await chat.begin('Warm up');
  await chat.done();
  await recordLayoutShifts(page);
  await chat.say('Compare');
  await expect(chat.answers.last().getByRole('img', { name: 'Chart: Weather' })).toBeVisible();
  await expect(chat.answers.last().getByRole('cell', { name: 'Planet 4' })).toBeVisible();
  await expect(chat.answers.last().getByRole('cell', { name: 'last' }), 'the text before a card has ended').toBeVisible();
  await upstream.open('rest');
  await chat.done();
  expect(await layoutShifts(page)).toEqual([]);
});

test('a chart tells its values to the pointer and the keyboard', async ({ chat, page, upstream }) => {
  await answer(chat, upstream);
  const values = chat.answers.last().locator('.chart-values');
  const slider = chat.answers.last().getByRole('slider', { name: 'Values of Chart: Weather' });
  await expect(values).toHaveCount(0);
  await slider.scrollIntoViewIfNeeded();
  const box = (await slider.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await expect(values).toHaveText('JuneRain30,000Sun4,000');
  await screenshots(page, 'chart-values');
  await page.mouse.move(box.x + box.width / 2, box.y - 40);
  await expect(values).toHaveCount(0);

  await slider.focus();
  await expect(slider).toHaveAttribute('aria-valuetext', 'May: Rain 12,000, Sun 20,000');
  await page.keyboard.press('End');
  await expect(slider).toHaveAttribute('aria-valuetext', 'July: Rain no value, Sun 26,000');
  await page.keyboard.press('ArrowLeft');
  await expect(slider).toHaveAttribute('aria-valuenow', '2');
  await expect(values).toContainText('June');
  await expectAccessible(page);
});

test('a tap shows the values of a place', async ({ chat, page, upstream }) => {
  await answer(chat, upstream);
  const values = chat.answers.last().locator('.chart-values');
  const slider = chat.answers.last().getByRole('slider', { name: 'Values of Chart: Weather' });
  await slider.scrollIntoViewIfNeeded();
  const box = (await slider.boundingBox())!;
  // A finger leaves before the element gets the focus.
  const tap = async (left: number) => {
    const place = { pointerType: 'touch', clientX: box.x + left, clientY: box.y + box.height / 2 };
    for (const type of ['pointerdown', 'pointerup', 'pointerleave']) await slider.dispatchEvent(type, place);
    await slider.focus();
  };
  await tap(box.width / 2);
  await expect(values).toHaveText('JuneRain30,000Sun4,000');
  await tap(box.width - 4);
  await expect(values).toHaveText('JulyRainno valueSun26,000');
  await expect(page.locator('#panel')).toHaveCount(0);
});
