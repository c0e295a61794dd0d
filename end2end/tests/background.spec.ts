import { expect, test } from '../support/test.ts';

test.beforeEach(({ browserLog }) => {
  // The browser logs every failed or broken connection.
  browserLog.allowLostConnections();
});

const news = 'has something new';

test('an unseen end has a dot until it is opened', async ({ chat, newTab, parlor, upstream }) => {
  await upstream.script({ when: { user_contains: 'slow' }, steps: [{ text: 'Thinking it over' }, { gate: 'over' }, { text: ': done.' }] });
  await chat.open();
  await chat.begin('slow question');
  await expect(chat.answers).toContainText('Thinking it over');
  const other = await newTab();
  await other.open();
  await chat.newChat.click();
  const entry = chat.list.getByRole('listitem').filter({ hasText: 'slow question' });
  const entryThere = other.list.getByRole('listitem').filter({ hasText: 'slow question' });
  await expect(entry).toContainText('is answering');
  await expect(chat.page).toHaveTitle(/^\(1\) /);

  await upstream.open('over');
  for (const there of [entry, entryThere]) {
    await expect(there).toContainText(news);
    await expect(there).not.toContainText('is answering');
  }
  await expect(chat.page).toHaveTitle(/^\(1\) /);
  await parlor.restart();
  await chat.reload();
  await expect(entry).toContainText(news);

  // A tab that is opened in the background shows it to nobody.
  const hidden = await newTab();
  await hidden.page.addInitScript(() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }));
  const sent: string[] = [];
  hidden.page.on('request', (request) => sent.push(request.url()));
  await hidden.page.goto((await entry.getByRole('link').getAttribute('href'))!);
  await hidden.hydrated();
  await expect(hidden.answers).toContainText('Thinking it over: done.');
  expect(sent.filter((url) => url.includes('mark_read'))).toEqual([]);
  await expect(entry).toContainText(news);
  await hidden.page.close();

  await entry.getByRole('link').click();
  await expect(chat.answers).toContainText('Thinking it over: done.');
  for (const there of [entry, entryThere]) await expect(there).not.toContainText(news);
  await expect(chat.page).not.toHaveTitle(/^\(/);
  await chat.reload();
  await expect(entry).not.toContainText(news);
});

test('visible and stopped answers get no dot', async ({ chat, upstream }) => {
  await upstream.script({ steps: [{ text: 'Here' }, { gate: 'end' }, { text: ' it is.' }] });
  await chat.open();
  await chat.begin('watched');
  await upstream.open('end');
  await chat.done();
  await chat.newChat.click();
  await expect(chat.entry('watched')).not.toContainText(news);

  await upstream.script({ steps: [{ text: 'On and on' }, { gate: 'never' }] });
  await chat.begin('stopped');
  await expect(chat.answers).toContainText('On and on');
  await chat.stop.click();
  await expect(chat.answers).toContainText('Stopped');
  await chat.newChat.click();
  await expect(chat.entry('stopped')).not.toContainText(news);
});
