import { readFileSync } from 'node:fs';
import { EventStream } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

const collection = (name: string): string[] =>
  JSON.parse(readFileSync(new URL(`../../tests/fixtures/xss/${name}.json`, import.meta.url), 'utf8'));
const strings = ['dompurify', 'payloadbox', 'payloads-all-the-things'].flatMap(collection);

/** How many strings are in a message. */
const BATCH = 1000;

test('no string of the collections runs or loads anything', async ({ chat, context, page, parlor, request, upstream }) => {
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
    const offers = batch.slice(0, 3).map((text) => ({ label: text.slice(0, 40), value: text.slice(0, 400) }));
    await upstream.script({
      when: { user_contains: message.slice(0, 40) },
      steps: [{ think: message }, { text: message }, { text: `\n\nSUGGESTED_VALUES: ${JSON.stringify(offers)}` }],
    });
    const events = await (await EventStream.chat(parlor.url, { message })).rest();
    const id = events[0]!.conversation_id;
    const title = batch.find((text) => text.length < 150 && text.includes('<')) ?? batch[0]!.slice(0, 150);
    const renamed = await request.patch(`/api/conversations/${id}`, { data: { title }, headers: { origin: parlor.url } });
    expect(renamed.ok()).toBe(true);
    // As the server has rendered it, and as it is made in the browser.
    await chat.open(`/c/${id}`);
    await expect(chat.title).toHaveText(title.replace(/\s+/g, ' ').trim());
    await chat.answers.last().getByText('Show details').click();
    await chat.newChat.click();
    await chat.list.getByRole('listitem').getByRole('link').first().click();
    await expect(chat.questions).toHaveCount(1);
    await page.mouse.move(400, 300);
    await page.keyboard.press('Tab');
  }
  expect(trouble).toEqual([]);
});
