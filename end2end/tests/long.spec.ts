import type { Locator, Page } from '@playwright/test';
import { EventStream } from '../support/events.ts';
import type { Parlor } from '../support/parlor.ts';
import { routeOnce } from '../support/requests.ts';
import { expect, test } from '../support/test.ts';

/** The turns of a page of messages. */
const PAGE = 4;
/** Three pages and a half. */
const TURNS = 14;
/** The turns that the browser keeps of a conversation that is left (`MAX_IDLE_MESSAGES`). */
const KEPT = 10;
const ANSWER = 'One paragraph.\n\nAnother one.\n\nAnd a third.';

// A page of messages is longer than two windows: less than one from its start, the next page is loaded.
test.use({ settings: `[limits]\nmessages_page = ${2 * PAGE}`, viewport: { width: 1280, height: 480 } });

/** Creates a conversation of all turns over HTTP and returns its path. */
async function longConversation(parlor: Parlor): Promise<string> {
  let conversation_id: string | undefined;
  for (let turn = 1; turn <= TURNS; turn++) {
    const stream = await EventStream.chat(parlor.url, { message: `Question ${turn}.`, ...(conversation_id && { conversation_id }) });
    const events = await stream.rest();
    conversation_id = events[0]!.conversation_id;
  }
  return `/c/${conversation_id}`;
}

/** The distance of an element from the upper edge of the window. */
const top = (target: Locator) => target.evaluate((element) => element.getBoundingClientRect().top);

/** Holds back older messages until the test releases them. The page may show that it loads before its request is held. */
async function holdOlder(page: Page) {
  let held: (() => void) | undefined;
  const asked: string[] = [];
  await page.route('**/rpc/older_messages?*', async (route) => {
    asked.push(route.request().url());
    await new Promise<void>((resolve) => (held = resolve));
    await route.continue();
  });
  const release = async () => {
    await expect.poll(() => held !== undefined, 'a request is held').toBe(true);
    held!();
    held = undefined;
  };
  return { asked, release };
}

test.beforeEach(({ upstream }) => upstream.script({ steps: [{ text: ANSWER }, { finish: 'stop' }] }));

for (const anchoring of ['with', 'without'] as const) {
  test(`scrolling up loads older messages in place, ${anchoring} scroll anchoring`, async ({ chat, page, parlor }) => {
    const path = await longConversation(parlor);
    await chat.open(path);
    await expect(chat.questions.last()).toContainText(`Question ${TURNS}.`);
    await expect(chat.questions).toHaveCount(PAGE);
    const scroller = page.getByRole('region', { name: 'Messages' });
    if (anchoring === 'without') await scroller.evaluate((scroller) => (scroller.style.overflowAnchor = 'none'));
    const older = await holdOlder(page);
    for (const first of [11, 7, 3]) {
      const reading = chat.questions.filter({ hasText: `Question ${first}.` });
      // At some distance from the top, as when reading upwards.
      await scroller.evaluate((scroller) => (scroller.scrollTop = 90));
      await expect(page.getByText('Loading older messages…')).toBeVisible();
      const before = await top(reading);
      await older.release();
      await expect(chat.questions.filter({ hasText: `Question ${first - 1}.` })).toHaveCount(1);
      await expect.poll(() => top(reading)).toBeCloseTo(before, 0);
    }
    await expect(chat.questions).toHaveCount(TURNS);
    const texts = await chat.questions.locator('.question-text').allTextContents();
    expect(texts).toEqual(Array.from({ length: TURNS }, (_, turn) => `Question ${turn + 1}.`));
    await expect(page.getByRole('link', { name: 'Show older messages' })).toHaveCount(0);
    expect(older.asked).toHaveLength(3);
    // The conversation can be continued as usual.
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await chat.say('And now?');
    await chat.done();
    await expect(chat.questions).toHaveCount(TURNS + 1);
  });
}

test('failed older messages say so and can be retried', async ({ browserLog, chat, context, page, parlor }) => {
  const path = await longConversation(parlor);
  await chat.open(path);
  const scroller = page.getByRole('region', { name: 'Messages' });
  browserLog.allow(/503/);
  await routeOnce(page, '**/rpc/older_messages?*', (route) => route.fulfill({ status: 503, json: { code: 'unavailable', message: 'The disk is full.' } }));
  await scroller.evaluate((scroller) => (scroller.scrollTop = 0));
  const trouble = chat.messages.getByRole('alert');
  await expect(trouble).toHaveText('Older messages could not be loaded. The disk is full.');
  await expect(trouble, 'the error fits at the top').toBeInViewport();
  await expect(chat.questions).toHaveCount(PAGE);
  await page.getByRole('link', { name: 'Try again' }).click();
  await expect(chat.questions).toHaveCount(2 * PAGE);
  await expect(scroller).toBeFocused();

  browserLog.allow(/ERR_INTERNET_DISCONNECTED/);
  await context.setOffline(true);
  await scroller.evaluate((scroller) => (scroller.scrollTop = 0));
  await expect(trouble).toHaveText('Older messages could not be loaded. The server can’t be reached.');
  await context.setOffline(false);
  await expect(chat.questions).toHaveCount(3 * PAGE);
  await expect(trouble).toBeEmpty();
});

test('old errors are not announced when they are loaded', async ({ chat, page, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'Question 10.' }, steps: [{ status: { code: 400, body: { error: { message: 'That was odd' } } } }] });
  await chat.open(await longConversation(parlor));
  await page.getByRole('region', { name: 'Messages' }).evaluate((scroller) => (scroller.scrollTop = 0));
  await expect(chat.problem).toContainText('That was odd');
  await expect(chat.messages.getByRole('alert').filter({ hasText: 'odd' })).toHaveCount(0);
});

test('a reopened conversation shows its end', async ({ chat, page, parlor }) => {
  const path = await longConversation(parlor);
  await chat.open(path);
  const scroller = page.getByRole('region', { name: 'Messages' });
  for (const pages of [2, 3]) {
    await scroller.evaluate((scroller) => (scroller.scrollTop = 0));
    await expect(chat.questions).toHaveCount(pages * PAGE);
  }
  await chat.newChat.click();
  await expect(chat.title).toHaveText('New chat');
  await chat.entry('Question 1.').click();
  await expect(chat.questions).toHaveCount(KEPT);
  await expect(chat.questions.last()).toBeInViewport();
  // The discarded part is loaded again.
  await scroller.evaluate((scroller) => (scroller.scrollTop = 0));
  await expect(chat.questions).toHaveCount(TURNS);
});

test('selects an answer on a branch not loaded yet', async ({ chat, page, parlor, upstream }) => {
  // The latest message is shown first.
  await upstream.script({ when: { user_contains: 'Twice' }, steps: [{ text: 'The second.' }, { finish: 'stop' }] });
  await upstream.script({ when: { user_contains: 'Twice' }, steps: [{ text: 'The first.' }, { finish: 'stop' }], times: 1 });
  const path = await longConversation(parlor);
  await chat.open(path);
  await chat.say('Twice');
  await chat.done();
  await chat.answers.last().getByRole('button', { name: 'Regenerate' }).click();
  await expect(chat.answers.last()).toContainText('The second.');
  await chat.done();
  await chat.reload();
  await expect(chat.answers.last()).toContainText('2/2');
  await chat.answers.last().getByRole('button', { name: 'Previous answer' }).click();
  await expect(chat.answers.last()).toContainText('The first.');
  await expect(chat.answers.last()).toContainText('1/2');
  await expect(chat.answers.last().getByRole('button', { name: 'Next answer' })).toBeFocused();
  await chat.reload();
  await expect(chat.answers.last()).toContainText('The first.');
});

test('retries a snapshot reload and keeps the shown range', async ({ browserLog, chat, newTab, page, parlor }) => {
  const path = await longConversation(parlor);
  await chat.open(path);
  const scroller = page.getByRole('region', { name: 'Messages' });
  await scroller.evaluate((scroller) => (scroller.scrollTop = 0));
  await expect(chat.questions).toHaveCount(2 * PAGE);
  // Another tab regenerates the last answer, then selects the first answer again: a branch not loaded here.
  const other = await newTab();
  await other.open(path);
  await other.answers.last().getByRole('button', { name: 'Regenerate' }).click();
  await other.done();
  await other.reload();
  await chat.reload();
  await scroller.evaluate((scroller) => (scroller.scrollTop = 0));
  await expect(chat.questions).toHaveCount(2 * PAGE);
  browserLog.allow(/ERR_CONNECTION_RESET/);
  let refused = 0;
  await page.route('**/rpc/conversation?*', (route) => (refused++ < 2 ? route.abort('connectionreset') : route.continue()));
  await other.answers.last().getByRole('button', { name: 'Previous answer' }).click();
  await expect(other.answers.last()).toContainText('1/2');
  await expect(page.getByText('There may be more. Loading it…')).toBeVisible();
  await expect(page.getByText('There may be more. Loading it…')).toHaveCount(0);
  expect(refused).toBeGreaterThan(2);
  await expect(chat.answers.last()).toContainText('1/2');
  await expect(chat.questions).toHaveCount(2 * PAGE);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('a link leads to older messages', async ({ page, parlor }) => {
    await page.goto(await longConversation(parlor));
    const questions = page.getByRole('article', { name: 'You' });
    await expect(questions).toHaveCount(PAGE);
    for (const count of [2 * PAGE, 3 * PAGE, TURNS]) {
      const first = await questions.first().getAttribute('id');
      await page.getByRole('link', { name: 'Show older messages' }).click();
      await expect(questions).toHaveCount(count);
      expect(new URL(page.url()).hash, 'one goes on where one was').toBe(`#${first}`);
    }
    await expect(questions.first()).toContainText('Question 1.');
    await expect(page.getByRole('link', { name: 'Show older messages' })).toHaveCount(0);
  });
});
