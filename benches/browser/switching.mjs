// The time from a click in the list until the other conversation is drawn: one that is opened for the first time, and one that was
// shown before; of 20 messages, and of 2,000.
import { open, parlor, percentile, quick, script } from './support.mjs';

const ROUNDS = quick ? 3 : 15;
const LONG = quick ? 100 : 2000;
const ANSWER = 'Some **bold words** and `code`.\n\n- One\n- Two\n\n```rust\nlet x = "y";\n```\n\nAnd a sentence that goes on for a while, as they do.\n';

export async function switching(browser) {
  await script('bench turn', [{ text: ANSWER }, { finish: 'stop' }]);
  const [short, other, long] = [await conversation('short', 20), await conversation('other', 20), await conversation('long', LONG)];
  const first = { [short]: [], [long]: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const page = await open(browser, other);
    for (const path of [short, long]) first[path].push(await go(page, path));
    await page.close();
  }
  const again = { [short]: [], [long]: [] };
  const page = await open(browser, other);
  for (const path of [short, long]) await go(page, path);
  for (let round = 0; round < ROUNDS; round++) for (const path of [short, long]) again[path].push(await go(page, path));
  await page.close();
  const size = LONG.toLocaleString('en');
  return [
    ['opened for the first time, 20 messages, p50', percentile(first[short], 0.5), 'ms'],
    [`opened for the first time, ${size} messages, p50`, percentile(first[long], 0.5), 'ms'],
    ['switched to, 20 messages, p50', percentile(again[short], 0.5), 'ms'],
    ['switched to, 20 messages, slowest', percentile(again[short], 1), 'ms'],
    [`switched to, ${size} messages, p50`, percentile(again[long], 0.5), 'ms'],
    [`switched to, ${size} messages, slowest`, percentile(again[long], 1), 'ms'],
  ];
}

/** Makes a conversation as any client does, and gives its path. */
async function conversation(name, messages) {
  let conversation_id;
  for (let turn = 0; turn < messages / 2; turn++) {
    const response = await fetch(`${parlor}/api/chat/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: `${name} bench turn`, conversation_id }),
    });
    const events = await response.text();
    if (!response.ok) throw new Error(`the conversation could not be made: ${response.status} ${events}`);
    conversation_id ??= /"conversation_id":"([^"]+)"/.exec(events)[1];
  }
  return `/c/${conversation_id}`;
}

/** Clicks on a conversation in the list; milliseconds until its messages are drawn. */
function go(page, path) {
  return page.evaluate(async (path) => {
    const link = document.querySelector(`nav a[href="${path}"]`);
    const before = document.querySelector('.messages');
    const start = performance.now();
    link.click();
    await new Promise((resolve) => {
      const look = () => {
        const messages = document.querySelector('.messages');
        return location.pathname === path && messages !== before && messages?.querySelectorAll('.answer').length >= 10;
      };
      if (look()) return resolve();
      const observer = new MutationObserver(() => {
        if (!look()) return;
        observer.disconnect();
        resolve();
      });
      observer.observe(document.body, { subtree: true, childList: true });
    });
    // After the next frame it is visible.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - start;
  }, path);
}
