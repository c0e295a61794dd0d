import type { Chat } from './chat.ts';
import type { Upstream } from './upstream.ts';

/** The control text of a document, or of a new version of the one with this id. */
export const letter = (text: string, id?: string): string => `DOCUMENT: ${JSON.stringify({ id, title: 'Letter', text })}`;

/** Makes the model answer a request with a new version of the letter in the first answer. */
export async function proposeVersion(chat: Chat, upstream: Upstream, request: string, text: string): Promise<void> {
  const id = await chat.answers.first().locator('.payload[data-payload]').getAttribute('data-payload');
  await upstream.script({ when: { user_contains: request }, steps: [{ text: `Changed.\n\n${letter(text, id!)}` }] });
  await chat.say(request);
  await chat.done();
}
