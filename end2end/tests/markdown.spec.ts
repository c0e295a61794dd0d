import type { Page } from '@playwright/test';
import { EventStream } from '../support/events.ts';
import { waitForPaint } from '../support/paint.ts';
import { expect, test } from '../support/test.ts';

const EVERYTHING = `# First heading

A paragraph with **bold**, *italic*, ~~struck~~ and \`code\`, a [link](https://example.com/a?b=c "Its title"),
an image ![A cat](https://example.com/cat.png) and a note.[^1]

## Second heading

- one
- two
  - nested
    1. deep
- three

- [x] done
- [ ] to do

| Left | Right |
|:-----|------:|
| a    | **1** |
| b    | 2     |

\`\`\`rust
fn main() {
    println!("<&>");
}
\`\`\`

> A quotation.
>
> > Inside another.

---

Raw <b>tags</b> and <img src=x onerror="document.title='owned'">

<script>document.title = 'owned'</script>

[^1]: What the note says.
`;

test('renders all of Markdown', async ({ chat, context, page, upstream }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await upstream.script({ steps: [{ text: EVERYTHING }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  const answer = chat.answers.first();

  await test.step('headings', async () => {
    await expect(answer.getByRole('heading', { name: 'heading' })).toHaveText(['First heading', 'Second heading']);
    await expect(answer.getByRole('heading', { level: 3 })).toHaveText('First heading');
  });
  await test.step('inline', async () => {
    await expect(answer.getByRole('strong').first()).toHaveText('bold');
    await expect(answer.getByRole('emphasis')).toHaveText('italic');
    await expect(answer.getByRole('deletion')).toHaveText('struck');
    await expect(answer.getByRole('paragraph').getByRole('code')).toHaveText('code');
  });
  await test.step('links lead elsewhere and tell nothing', async () => {
    const link = answer.getByRole('link', { name: 'link', exact: true });
    await expect(link).toHaveAttribute('href', 'https://example.com/a?b=c');
    await expect(link).toHaveAttribute('title', 'Its title');
    await expect(link).toHaveAttribute('target', '_blank');
    await expect(link).toHaveAttribute('rel', /\bnoopener\b.*\bnoreferrer\b/);
  });
  await test.step('an image is a link', async () => {
    await expect(answer.getByRole('link', { name: 'A cat' })).toHaveAttribute('href', 'https://example.com/cat.png');
    await expect(answer.getByRole('img')).toHaveCount(0);
  });
  await test.step('lists', async () => {
    await expect(answer.getByRole('listitem').filter({ hasText: 'deep' }).last()).toHaveText('deep');
    await expect(answer.getByRole('list').getByRole('list').getByRole('list')).toHaveText('deep');
    await expect(answer.getByRole('checkbox', { name: 'Done', exact: true })).toBeChecked();
    await expect(answer.getByRole('checkbox', { name: 'To do' })).not.toBeChecked();
    await expect(answer.getByRole('checkbox', { name: 'To do' })).toBeDisabled();
  });
  await test.step('a table', async () => {
    await expect(answer.getByRole('columnheader')).toHaveText(['Left', 'Right']);
    await expect(answer.getByRole('cell')).toHaveText(['a', '1', 'b', '2']);
    await expect(answer.getByRole('cell', { name: '2' })).toHaveCSS('text-align', 'right');
  });
  await test.step('code has its language and can be copied', async () => {
    const code = answer.getByText('fn main()');
    await expect(code).toHaveText('fn main() {\n    println!("<&>");\n}\n', { useInnerText: true });
    await expect(answer.getByText('rust', { exact: true })).toBeVisible();
    await answer.getByRole('button', { name: 'Copy code' }).click();
    await expect(answer.getByText('Copied').first()).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('fn main() {\n    println!("<&>");\n}\n');
  });
  await test.step('quotations', async () => {
    await expect(answer.getByRole('blockquote').getByRole('blockquote')).toHaveText('Inside another.');
  });
  await test.step('footnotes lead there and back', async () => {
    await answer.getByRole('link', { name: 'Footnote 1', exact: true }).click();
    await expect(answer.getByRole('note')).toContainText('What the note says.');
    await expect(answer.getByRole('note')).toBeInViewport();
    await answer.getByRole('link', { name: 'Back to footnote 1 in the text' }).click();
    await expect(answer.getByRole('link', { name: 'Footnote 1', exact: true })).toBeInViewport();
  });
  await test.step('raw HTML is text', async () => {
    await expect(answer).toContainText('Raw <b>tags</b> and <img src=x onerror="document.title=\'owned\'">');
    await expect(answer).toContainText("<script>document.title = 'owned'</script>");
    await expect(answer.locator('b, .prose img, script')).toHaveCount(0);
    await expect(page).toHaveTitle('Show · Parlor');
  });
  await test.step('a message can be copied as it was written', async () => {
    await answer.getByRole('button', { name: 'Copy', exact: true }).click();
    await expect(answer.getByRole('button', { name: 'Copied', exact: true }).last()).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(EVERYTHING);
  });
});

test('shows user messages as typed', async ({ chat }) => {
  await chat.open();
  await chat.message.fill('# Not a heading\n\n<b>not bold</b> **neither**');
  await chat.message.press('Enter');
  await expect(chat.questions).toContainText('<b>not bold</b> **neither**');
  await expect(chat.questions.getByRole('heading', { name: 'Not a heading' })).toHaveCount(0);
  await expect(chat.questions.getByRole('strong')).toHaveCount(0);
});

test('script links do not run', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: '[one](javascript:alert(1)) ![two](data:text/html,x) [three](https://example.com)' }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  await expect(chat.answers.getByRole('link', { name: 'three' })).toBeVisible();
  for (const link of await chat.answers.getByRole('link').all()) {
    expect(await link.getAttribute('href')).not.toMatch(/^(javascript|data):/);
  }
});

test('a streamed answer equals the reloaded one', async ({ chat, upstream }) => {
  await upstream.script({ steps: inChunks(EVERYTHING, 3) });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  const answer = chat.answers.first();
  const [seen, text] = [await answer.ariaSnapshot(), await answer.innerText()];
  expect(seen).toContain('heading "Second heading"');
  await chat.reload();
  expect(await answer.ariaSnapshot()).toBe(seen);
  expect(await answer.innerText()).toBe(text);
});

test('unfinished Markdown never shows its markers', async ({ chat, page, parlor, upstream }) => {
  const pieces = [
    'One **bo', 'ld*', '* two *ital', 'ic* three ~~str', 'uck~', '~ four `co', 'de` five [a li', 'nk](https://exa', 'mple.com) six ',
    '![pic', 'ture](https://example.com/x', '.png) seven.[^', '1]\n\n#', '# Head', 'ing\n\n-', ' first **b', 'old**\n  -', ' nested\n- [', 'x] done\n\n',
    '| Left | Ri', 'ght |\n', '|---|-', '--|\n', '| a | **b', '** |\n\n``', '`rust\nlet a', ' = 1;\n``', '`\n\n>', ' Quoted **te', 'xt**\n\n[^1]', ': A note.\n',
  ];
  await upstream.script({ steps: pieces.flatMap((text, index) => [{ text }, { gate: `piece ${index}` }]) });
  const log = await EventStream.everything(parlor.url);
  await chat.open();
  await recordShownTexts(page);
  await chat.say('Show');
  let [sent, had] = ['', ''];
  for (const [index, text] of pieces.entries()) {
    // The page has received and rendered it. Whitespace is shown with the following text, and so is text that may
    // still turn out to be control text.
    sent += text;
    had += (await log.until('text_delta')).text;
    expect(sent.slice(0, had.length)).toBe(had);
    expect(sent.slice(had.length)).toMatch(/^\s*`{0,2}$/);
    await waitForPaint(page);
    await upstream.open(`piece ${index}`);
  }
  await chat.done();
  log.close();
  const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
  expect(seen.length, 'it was seen growing').toBeGreaterThan(pieces.length / 2);
  expect(seen.at(-1)).toContain('A note.');
  const marks = /[*~`|[\]!#]|^\s*[>-]|\(https?:|https:/m;
  expect(seen.filter((text) => marks.test(text))).toEqual([]);
});

test('selected text stays selected while the answer grows', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'The first paragraph.\n\nThe **second' }, { gate: 'rest' }, { text: '** one.\n\n- and\n- more' }] });
  await chat.open();
  await chat.say('Show');
  await expect(chat.answers.getByText('second')).toBeVisible();
  await chat.answers.getByText('The first paragraph.').selectText();
  await upstream.open('rest');
  await expect(chat.answers.getByRole('listitem')).toHaveText(['and', 'more']);
  expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe('The first paragraph.');
});

/** Splits a text into chunks of a given length, at the pace of a fast model. */
function inChunks(text: string, length: number): Record<string, unknown>[] {
  const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'gu')) ?? [];
  return pieces.flatMap((piece) => [{ text: piece }, { pause: 4 }]);
}

/** Records every text that the answer shows in `seen`. */
async function recordShownTexts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    const look = () => {
      const text = document.querySelector<HTMLElement>('[aria-label="Answer"] .prose')?.innerText;
      if (text !== undefined && text !== seen.at(-1)) seen.push(text);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

test('a bare URL is a link without its full stop', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'See https://example.com/a_(b)' }, { gate: 'rest' }, { text: '. Or www.example.com.' }] });
  await chat.open();
  await chat.say('Where?');
  await expect(chat.answers.getByRole('link', { name: 'https://example.com/a_(b)' })).toHaveAttribute('href', 'https://example.com/a_(b)');
  await upstream.open('rest');
  await chat.done();
  await expect(chat.answers.getByRole('link', { name: 'www.example.com', exact: true })).toHaveAttribute('href', 'http://www.example.com');
  await expect(chat.answers.getByText('See https://example.com/a_(b). Or www.example.com.', { exact: true })).toBeVisible();
});

test('hydrates a paragraph longer than a parser’s text node', async ({ chat, upstream }) => {
  const long = Array.from({ length: 10_000 }, (_, n) => `word${n} `).join('');
  await upstream.script({ steps: [{ text: `${long}and an end.` }] });
  await chat.open();
  await chat.begin('A long one');
  await chat.done();
  await chat.reload();
  await chat.say('Again');
  await expect(chat.answers.last()).toContainText('and an end.');
  await chat.done();
});
