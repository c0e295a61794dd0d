import type { Locator } from '@playwright/test';
import type { Chat } from './chat.ts';
import type { Upstream } from './upstream.ts';

/** Starts a conversation whose answer has these blocks of code, and returns the blocks. */
export async function showCode(chat: Chat, upstream: Upstream, language: string, ...sources: string[]): Promise<Locator> {
  const blocks = sources.map((source) => `\`\`\`${language}\n${source}\n\`\`\``);
  await upstream.script({ steps: [{ text: `Look:\n\n${blocks.join('\n\nAnd:\n\n')}\n\nDone.` }] });
  await chat.open();
  await chat.say('Show');
  await chat.done();
  return chat.answers.last().locator('.md-code');
}
