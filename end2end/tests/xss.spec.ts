import { readFileSync } from 'node:fs';
import { EventStream } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

const collection = (name: string): string[] =>
  JSON.parse(readFileSync(new URL(`../../tests/fixtures/xss/${name}.json`, import.meta.url), 'utf8'));
const strings = ['dompurify', 'payloadbox', 'payloads-all-the-things'].flatMap(collection);

/** The number of strings in a message, limited so that they fit into a few pieces of an answer. */
const BATCH = Math.ceil(strings.length / 3);
/** The number of strings in the thinking, which is Markdown like the text; a Rust test covers all (`ui::tests::xss`). */
const THOUGHTS = 300;

test('no string of the collections executes or loads anything', async ({ chat, context, page, parlor, request, upstream }) => {
  test.slow();
  const trouble: string[] = [];
  context.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (asked) => {
    const url = new URL(asked.url());
    if (url.protocol !== 'data:' && url.origin !== parlor.url) trouble.push(`request: ${asked.url()}`);
  });
  await context.exposeFunction('violated', (what: string) => trouble.push(what));
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      (window as unknown as { violated: (what: string) => void }).violated(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  for (let from = 0; from < strings.length; from += BATCH) {
    const batch = strings.slice(from, from + BATCH);
    const message = batch.join('\n\n');
    const some = [0, 1000, 2000].flatMap((at) => batch.slice(at, at + 3));
    const offers = some.map((text) => ({ label: text.slice(0, 40), value: text.slice(0, 400) }));
    await upstream.script({
      when: { user_contains: message.slice(0, 40) },
      steps: [{ think: batch.slice(0, THOUGHTS).join('\n\n') }, { text: message }, { text: `\n\nSUGGESTED_VALUES: ${JSON.stringify(offers)}` }],
    });
    const events = await (await EventStream.chat(parlor.url, { message })).rest();
    const id = events[0]!.conversation_id;
    const rename = async (title: string) => {
      const renamed = await request.patch(`/api/conversations/${id}`, { data: { title }, headers: { origin: parlor.url } });
      expect(renamed.ok()).toBe(true);
      return title.replace(/\s+/g, ' ').trim();
    };
    const [title, ...titles] = [0, 1000, 2000].map((at) => batch.slice(at).find((text) => text.length < 150)!);
    const named = await rename(title!);
    // As rendered by the server and by the browser.
    await chat.open(`/c/${id}`);
    await expect(chat.title).toHaveText(named);
    for (const next of titles) await expect(chat.title).toHaveText(await rename(next));
    await chat.answers.last().getByText(/^Thought/).click();
    await chat.newChat.click();
    await chat.list.getByRole('listitem').getByRole('link').first().click();
    await expect(chat.questions).toHaveCount(1);
    // Everything is shown. A text that may have many formulas comes in more pieces.
    const more = page.getByRole('button', { name: 'Show more' });
    await expect(async () => {
      if (await more.count() > 0) await more.first().click();
      await expect(more).toHaveCount(0, { timeout: 1000 });
    }).toPass();
    await page.mouse.move(400, 300);
    await page.keyboard.press('Tab');
  }
  expect(trouble).toEqual([]);
});
