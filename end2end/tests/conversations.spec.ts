import { EventStream, runConversation } from '../support/events.ts';
import { expect, test } from '../support/test.ts';

test('a new chat is stored with its first message', async ({ chat, parlor }) => {
  await chat.open();
  await chat.newChat.click();
  await chat.message.fill('Not sent yet');
  await chat.reload();
  await expect(chat.message).toHaveValue('Not sent yet');
  await expect(chat.list.getByText('Your conversations will be listed here.')).toBeVisible();
  await expect(chat.entries).toHaveCount(0);

  const path = await runConversation(parlor.url, 'The first');
  const log = await EventStream.everything(parlor.url);
  expect(await log.next(), 'the log begins with it').toMatchObject({ position: 1, conversation_id: path.slice('/c/'.length) });
  log.close();
});

test('a title is the beginning of the first message', async ({ chat, page }) => {
  await chat.open();
  await chat.say('What is the unemployment rate in Denmark, and how was it ten years ago in the countries around it?');
  const title = 'What is the unemployment rate in Denmark, and how was it ten years ago in the…';
  await expect(chat.title).toHaveText(title);
  await expect(chat.entry(title)).toHaveAttribute('aria-current', 'page');
  await expect(page).toHaveTitle(`${title} · Parlor`);
  await chat.done();
  await chat.say('A second message changes nothing about it');
  await chat.done();
  await chat.reload();
  await expect(chat.title).toHaveText(title);
});

test('renaming a conversation changes all tabs', async ({ chat, newTab }) => {
  await chat.open();
  const path = await chat.begin('Plans');
  await chat.done();
  const other = await newTab();
  await other.open(path);

  const field = chat.list.getByRole('textbox', { name: 'Title of the conversation' });
  await chat.press('Rename', 'Plans');
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('Plans');
  await field.fill('Never mind');
  await field.press('Escape');
  await expect(field).toBeHidden();
  await expect(chat.title).toHaveText('Plans');

  await chat.press('Rename', 'Plans');
  await field.fill('Plans for <b>summer</b>');
  await field.press('Enter');
  for (const tab of [chat, other]) {
    await expect(tab.title).toHaveText('Plans for <b>summer</b>');
    await expect(tab.titles).toHaveText(['Plans for <b>summer</b>']);
  }
  await chat.reload();
  await expect(chat.title).toHaveText('Plans for <b>summer</b>');
});

test('a rename goes on while the list is ordered anew', async ({ chat, page, parlor }) => {
  const path = await runConversation(parlor.url, 'Old');
  await runConversation(parlor.url, 'New');
  await chat.open();
  const field = chat.list.getByRole('textbox', { name: 'Title of the conversation' });
  await chat.press('Rename', 'Old');
  await field.fill('Half a ti');
  const conversation_id = path.slice('/c/'.length);
  await (await EventStream.chat(parlor.url, { message: 'More', conversation_id })).rest();
  await expect(chat.list.getByRole('listitem').first().getByRole('textbox')).toBeVisible();
  await expect(chat.titles).toHaveText(['New']);
  await expect(field).toBeFocused();
  await field.press('End');
  await page.keyboard.type('tle');
  await page.keyboard.press('Enter');
  await expect(chat.titles).toHaveText(['Half a title', 'New']);

  await test.step('renaming another one saves the title that is left', async () => {
    await chat.press('Rename', 'Half a title');
    await field.fill('Whole title');
    await chat.press('Rename', 'New');
    await expect(field).toHaveValue('New');
    await expect(chat.titles).toHaveText(['Whole title']);
    await field.press('Escape');
    await expect(chat.titles).toHaveText(['Whole title', 'New']);
  });

  // The focus of a row stays with it, too.
  const link = chat.list.getByRole('link', { name: /^New( has something new)?$/ });
  await link.focus();
  await (await EventStream.chat(parlor.url, { message: 'Last', conversation_id: (await link.getAttribute('href'))!.slice('/c/'.length) })).rest();
  await expect(chat.titles).toHaveText(['New', 'Whole title']);
  await expect(link).toBeFocused();
});

test('deleting removes the conversation everywhere', async ({ browserLog, chat, newTab, page }) => {
  await chat.open();
  const path = await chat.begin('Secrets');
  await chat.done();
  const [reading, elsewhere] = [await newTab(), await newTab()];
  await reading.open(path);
  await elsewhere.open('/');

  await chat.press('Delete', 'Secrets');
  await expect(chat.title).toHaveText('New chat');
  await expect(page).toHaveURL('/');
  for (const tab of [chat, reading, elsewhere]) await expect(tab.entries).toHaveCount(0);
  await expect(reading.page.getByRole('heading', { name: 'This conversation does not exist.' })).toBeVisible();
  await expect(reading.page.getByText('Untitled')).toHaveCount(0);
  await expect(reading.page.getByRole('button', { name: 'Jump to latest' })).toHaveCount(0);

  browserLog.allow(/status of 404/);
  expect((await page.goto(path))?.status()).toBe(404);
});

test('a conversation can be deleted while it is running', async ({ chat, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'Go on' }, steps: [{ text: 'On and on' }, { gate: 'never' }] });
  await chat.open();
  await chat.begin('Go on');
  await expect(chat.answers).toContainText('On and on');
  await chat.press('Delete', 'Go on');
  await expect(chat.entries).toHaveCount(0);
  await runConversation(parlor.url, 'Something else');
  await expect(chat.titles).toHaveText(['Something else']);
});

test('links, back and forward work', async ({ chat, page, parlor }) => {
  const [one, two] = [await runConversation(parlor.url, 'One'), await runConversation(parlor.url, 'Two')];
  await chat.open(one);
  await expect(chat.answers).toContainText('One');
  await chat.entry('Two').click();
  await expect(chat.answers).toContainText('Two');
  await expect(page).toHaveURL(two);
  await chat.newChat.click();
  await expect(chat.title).toHaveText('New chat');
  await page.goBack();
  await expect(chat.title).toHaveText('Two');
  await expect(chat.answers).toContainText('Two');
  await page.goBack();
  await expect(chat.title).toHaveText('One');
  await expect(chat.answers).toContainText('One');
  await page.goForward();
  await expect(chat.title).toHaveText('Two');
  await expect(page).toHaveURL(two);
});

test('two tabs can show two conversations', async ({ chat, newTab }) => {
  const other = await newTab();
  await chat.open();
  await other.open();
  await chat.begin('Left');
  // The end of an answer is an activity, which sorts the list.
  await chat.done();
  await other.begin('Right');
  await other.done();
  await expect(chat.messages).not.toContainText('Right');
  await expect(other.messages).not.toContainText('Left');
  for (const tab of [chat, other]) await expect(tab.titles).toHaveText(['Right', 'Left']);
});

test('each page keeps its own draft', async ({ chat, parlor }) => {
  await runConversation(parlor.url, 'One');
  await runConversation(parlor.url, 'Two');
  await chat.open();
  await chat.entry('One').click();
  await expect(chat.title).toHaveText('One');
  await chat.message.fill('for one');
  await chat.entry('Two').click();
  await expect(chat.message).toHaveValue('');
  await chat.entry('One').click();
  await expect(chat.message).toHaveValue('for one');
});

test('the list shows the newest activity first', async ({ chat, parlor }) => {
  for (const name of ['Ant', 'Bee', 'Cat']) await runConversation(parlor.url, name);
  await chat.open();
  await expect(chat.titles).toHaveText(['Cat', 'Bee', 'Ant']);
  await chat.entry('Ant').click();
  await expect(chat.title).toHaveText('Ant');
  await expect(chat.titles).toHaveText(['Cat', 'Bee', 'Ant']);
  await chat.say('Once more');
  await expect(chat.titles).toHaveText(['Ant', 'Cat', 'Bee']);
  await chat.done();
  await chat.reload();
  await expect(chat.titles).toHaveText(['Ant', 'Cat', 'Bee']);
});

test('activity is listed under its day', async ({ chat, page, parlor }) => {
  await runConversation(parlor.url, 'Hello');
  for (const [when, days, heading] of [
    ['today', 0, 'Today'],
    ['yesterday', 1, 'Yesterday'],
    ['some days ago', 5, 'Previous 7 days'],
  ] as const) {
    await test.step(`activity ${when} is listed under “${heading}”`, async () => {
      await page.clock.setFixedTime(Date.now() + days * 24 * 60 * 60 * 1000);
      await chat.open();
      const group = chat.list.locator('section').filter({ has: page.getByRole('heading', { name: heading, exact: true }) });
      await expect(group.getByRole('link')).toContainText(['Hello']);
      await expect(chat.list.getByRole('heading', { level: 3 })).toHaveCount(1);
    });
  }
});

test.describe('in pages of five', () => {
  // Of two pages, the end of the first one is out of sight.
  test.use({ settings: '[limits]\nconversations_page = 5', viewport: { width: 1280, height: 300 } });

  test('a long list is loaded page by page', async ({ chat, parlor }) => {
    const names = Array.from({ length: 8 }, (_, index) => `Chat number ${index + 1}`);
    for (const name of names) await runConversation(parlor.url, name);
    await chat.open();
    await expect(chat.entries).toHaveCount(5);
    await expect(chat.titles.first()).toHaveText('Chat number 8');
    await chat.list.getByRole('button', { name: 'Show older' }).scrollIntoViewIfNeeded();
    await expect(chat.titles).toHaveText(names.toReversed());
    await expect(chat.list.getByRole('button', { name: 'Show older' })).toHaveCount(0);
  });
});

test('rapid clicks in the list open the last one', async ({ chat, page, parlor }) => {
  const names = ['Ant', 'Bee', 'Cat', 'Dog', 'Elk'];
  for (const name of names) await runConversation(parlor.url, name);
  // The first request is answered last.
  const held: (() => Promise<void>)[] = [];
  await page.route('**/rpc/conversation?*', (route) => {
    if (held.push(() => route.continue()) === names.length) for (const answer of held.toReversed()) void answer();
  });
  await chat.open();
  for (const name of names) await chat.entry(name).click();
  await expect.poll(() => held.length, 'all were asked for before any was answered').toBe(names.length);
  await expect(chat.title).toHaveText('Elk');
  await expect(chat.answers).toContainText('Elk');
  await expect(chat.entry('Elk')).toHaveAttribute('aria-current', 'page');
  await expect(chat.list.locator('[aria-current]')).toHaveCount(1);
  for (const name of names.toReversed()) {
    await chat.entry(name).click();
    await expect(chat.answers).toContainText(name);
  }
});

test('everything survives a restart', async ({ browserLog, chat, parlor }) => {
  browserLog.allowLostConnections();
  await chat.open();
  await chat.begin('First');
  await chat.done();
  const path = await chat.begin('Second');
  await chat.done();
  await parlor.restart();
  await chat.open(path);
  await expect(chat.questions).toContainText('Second');
  await expect(chat.answers).toContainText('Second');
  await expect(chat.titles).toHaveText(['Second', 'First']);
  await chat.say('And a third');
  await expect(chat.answers.last()).toContainText('And a third');
});

test('an unknown conversation gets a helpful page', async ({ browserLog, chat, page }) => {
  browserLog.allow(/status of 404/);
  const response = await page.goto('/c/0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11');
  expect(response?.status()).toBe(404);
  await expect(page.getByRole('heading', { name: 'This conversation does not exist.' })).toBeVisible();
  await page.getByRole('link', { name: 'Start a new chat' }).click();
  await expect(chat.title).toHaveText('New chat');
});

test('a conversation created after opening its page appears', async ({ browserLog, chat, page, parlor }) => {
  browserLog.allow(/status of 404/);
  const conversation_id = '0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11';
  await page.goto(`/c/${conversation_id}`);
  await expect(page.getByRole('heading', { name: 'This conversation does not exist.' })).toBeVisible();
  await (await EventStream.chat(parlor.url, { message: 'Here it is', conversation_id })).rest();
  await expect(chat.questions).toHaveText([/Here it is/]);
  await expect(chat.answers).toContainText('Here it is');
});

test('right-to-left text is shown right to left everywhere', async ({ chat }) => {
  const arabic = 'ما هي عاصمة فرنسا؟ أجب بجملة واحدة قصيرة من فضلك';
  const direction = (element: Element) => getComputedStyle(element).direction;
  await chat.open();
  await chat.message.fill(arabic);
  expect(await chat.message.evaluate(direction)).toBe('rtl');
  await chat.begin(arabic);
  for (const shown of [chat.questions.getByText(arabic), chat.title, chat.titles.first()]) {
    await expect(shown).toBeVisible();
    expect(await shown.evaluate(direction)).toBe('rtl');
  }
});
