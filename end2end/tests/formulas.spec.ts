import { EventStream } from '../support/events.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const FORMULAS = `The mass is \\(E = mc^2\\), the limit $1.22\\,\\lambda/D$, and it costs $5 and $10.

\\[
f(x) = \\begin{cases} x^2 & \\text{if } x \\ge 0 \\\\
- x & \\text{otherwise} \\end{cases}
\\]

- A matrix:
  $$
  \\mathbf{R}(\\theta) = \\begin{bmatrix} \\cos\\theta & -\\sin\\theta \\\\ \\sin\\theta & \\cos\\theta \\end{bmatrix}
  $$
- A sum $\\sum_{i=1}^n \\textcolor{red}{x_i}$ and \\(\\frac{a}{b}\\)
- Wide accents: $\\overrightarrow{ABCD} + \\widehat{ABCD} + \\widetilde{ABCD} + \\overbrace{ABCD}$

$$
\\begin{aligned}
\\nabla \\cdot \\mathbf{E} &= \\frac{\\rho}{\\varepsilon_0} \\\\
+ \\int_0^\\infty e^{-x^2}\\,dx &= \\frac{\\sqrt{\\pi}}{2} + \\sum_{n=1}^{\\infty} \\frac{1}{n^2} + \\prod_{k} \\left(1 + \\frac{x}{k}\\right) + \\oint_C \\vec{F} \\cdot d\\vec{r}
\\end{aligned}
$$

| Term | Formula |
|------|---------|
| norm | $\\|v\\|_2$ |

Unknown: $\\unknown{x}$, and code: \`$HOME\`.`;

test('formulas become MathML and copy as their source', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'So $$\\frac{a' }, { gate: 'rest' }, { text: '}{b}$$ it is.' }] });
  await chat.open();
  const fonts = () => page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => /math.*\.woff2$/.test(name)).length);
  expect(await fonts()).toBe(0);
  await chat.say('One');
  const open = chat.answers.locator('.md-formula-raw');
  await expect(open).toHaveText('$$\\frac{a');
  await upstream.open('rest');
  await chat.done();
  await expect(chat.answers.locator('math mfrac')).toBeVisible();
  await expect.poll(fonts).toBe(1);
  await expect(open).toHaveCount(0);

  await upstream.script({ steps: [{ text: FORMULAS }] });
  await chat.say('Many');
  await chat.done();
  const answer = chat.answers.last();
  // Whatever fonts the system has: brackets are as high as their matrix, and braces as their cases.
  await page.evaluate(() => document.fonts.ready);
  for (const bracketed of await answer.locator('mtable.math-matrix, mtable.math-cases').all()) {
    const [bracket, table] = await bracketed.evaluate((table) =>
      [table.previousElementSibling!, table].map((element) => element.getBoundingClientRect().height));
    expect(bracket).toBeGreaterThan(table! * 0.9);
  }
  await expect(answer.locator('math')).toHaveCount(9);
  await expect(answer).toContainText('costs $5 and $10.');
  await expect(answer.locator('.md-formula-raw')).toHaveText('$\\unknown{x}$');
  // Drawn as mathematics, not only present.
  const fraction = await answer.locator('mfrac').first().boundingBox();
  expect(fraction!.height).toBeGreaterThan(fraction!.width);
  const cell = answer.locator('mtd').first();
  expect(await cell.evaluate((element) => parseFloat(getComputedStyle(element).paddingTop))).toBeGreaterThan(2);
  await screenshots(page, 'formulas');

  const copied = await answer.evaluate((element) => {
    const paragraph = element.querySelector('.md p')!;
    getSelection()!.selectAllChildren(paragraph);
    return getSelection()!.toString();
  });
  expect(copied.replaceAll('\n', '')).toContain('The mass is \\(E = mc^2\\), the limit $1.22\\,\\lambda/D$, and it');
  await answer.locator('.md p').first().click({ clickCount: 3, position: { x: 4, y: 4 } });
  const selected = await page.evaluate(() => getSelection()!.toString());
  expect(selected.replaceAll('\n', ' ').trim()).toMatch(/^The mass is .* and it costs \$5 and \$10\.$/);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);

  const path = chat.path;
  await chat.open(path);
  await expect(answer.locator('math')).toHaveCount(9);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the server draws formulas', async ({ page, parlor, upstream, chat }) => {
    await upstream.script({ steps: [{ text: FORMULAS }] });
    const events = await (await EventStream.chat(parlor.url, { message: 'Many' })).rest();
    await page.goto(`/c/${events[0]!.conversation_id}`);
    await expect(chat.answers.locator('math')).toHaveCount(9);
  });
});
