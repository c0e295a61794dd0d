import type { Locator } from '@playwright/test';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const MIXED = `מילים בעברית, then English.

- פריט ראשון
- \`code\` ואז עברית
  - פריט פנימי

1. An English item
2. Another

> ציטוט
>
> - רשימה בציטוט

> - רשימה לבדה

> [!NOTE]
> הערה חשובה

| שם | מחיר |
|----|------|
| עט | 5 |

| Name | Price |
|------|-------|
| عربي | 5 |

\`\`\`
code stays
\`\`\``;

test('right-to-left blocks have their marks at the right', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: MIXED }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  for (const isReloaded of [false, true]) {
    if (isReloaded) await chat.open(chat.path);
    const answer = chat.answers.last();
    const lists = answer.locator('ul, ol');
    await expect(lists).toHaveCount(5);
    const directions = await lists.evaluateAll((all) => all.map((list) => getComputedStyle(list).direction));
    expect(directions).toEqual(['rtl', 'rtl', 'ltr', 'rtl', 'rtl']);
    // Bullets stand in the padding.
    await expect(lists.first()).toHaveCSS('padding-left', '0px');
    for (const quote of await answer.locator('blockquote, .md-alert').all()) {
      await expect(quote).toHaveCSS('border-right-width', '3px');
      await expect(quote).toHaveCSS('border-left-width', '0px');
    }
    const [hebrew, english] = [answer.getByRole('table').nth(0), answer.getByRole('table').nth(1)];
    expect(await left(hebrew.getByRole('columnheader').nth(0))).toBeGreaterThan(await left(hebrew.getByRole('columnheader').nth(1)));
    expect(await left(english.getByRole('columnheader').nth(0))).toBeLessThan(await left(english.getByRole('columnheader').nth(1)));
    for (const cell of await hebrew.locator('th, td').all()) await expect(cell).toHaveCSS('text-align', 'right');
    for (const cell of await english.locator('th, td').all()) await expect(cell).toHaveCSS('text-align', 'left');
    await expect(answer.locator('pre')).toHaveCSS('direction', 'ltr');
    await expect(answer.locator('li code')).toHaveCSS('direction', 'ltr');
  }
  await screenshots(page, 'directions');
});

async function left(element: Locator): Promise<number> {
  return (await element.boundingBox())!.x;
}
