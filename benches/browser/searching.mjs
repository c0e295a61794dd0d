// The time from a key in the palette until what the server has found in texts is drawn.
import { open, parlor, percentile, quick, script, send } from './support.mjs';

const WORDS = quick ? 5 : 50;

export async function searching(browser) {
  const page = await open(browser);
  let typed = await words();
  if (typed.length === 0) {
    await script('bench search', [{ text: 'An answer with a few words.' }, { finish: 'stop' }]);
    await send(page, 'bench search');
    await page.getByRole('article', { name: 'Answer' }).getByText('An answer with a few words.').waitFor();
    typed = await words();
  }
  const times = [];
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  for (const word of typed) times.push(await type(page, word));
  await page.close();
  return [
    ['key to what is found in texts, p50', percentile(times, 0.5), 'ms'],
    ['key to what is found in texts, p95', percentile(times, 0.95), 'ms'],
  ];
}

/** Beginnings of words in the answers of the newest conversations: what one has typed when the server is asked. */
async function words() {
  const read = async (path) => (await fetch(`${parlor}/api/conversations${path}`)).json();
  const { conversations } = await read('');
  const beginnings = new Set();
  for (const { id } of conversations.slice(0, 10)) {
    const { messages } = await read(`/${id}/messages`);
    const answers = JSON.stringify(messages.filter(({ role }) => role === 'assistant'));
    const texts = [...answers.matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text.replace(/\\./g, ' '));
    for (const word of texts.join(' ').match(/\p{L}{4,}/gu) ?? []) beginnings.add([...word].slice(0, 4).join(''));
  }
  return [...beginnings].slice(0, WORDS);
}

/** Types a word into the empty field; milliseconds until its first text is drawn. */
function type(page, word) {
  return page.evaluate(async (word) => {
    const field = document.querySelector('dialog input[role="combobox"]');
    const found = () => document.querySelectorAll('.palette-found mark').length > 0;
    const until = (look) =>
      new Promise((resolve, reject) => {
        if (look()) return resolve();
        setTimeout(() => reject(new Error(`nothing is found for ${word}`)), 10_000);
        const observer = new MutationObserver(() => {
          if (!look()) return;
          observer.disconnect();
          resolve();
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      });
    const set = (value) => {
      field.value = value;
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    };
    set('');
    await until(() => !found());
    const start = performance.now();
    set(word);
    await until(found);
    // After the next frame it is visible.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - start;
  }, word);
}
