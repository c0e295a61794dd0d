/**
 * Pages of other sites in the same browser cannot change anything, cause no request to other servers, and read nothing.
 * `localhost` is another site than 127.0.0.1, another port only another origin; the third name resolves to loopback.
 */
import { randomUUID } from 'node:crypto';
import { request as http } from 'node:http';
import config from '../playwright.config.ts';
import { EventStream } from '../support/events.ts';
import { placeArticles, pubmed } from '../support/pubmed.ts';
import { attack, contract, functions, OtherSite } from '../support/other-site.ts';
import { expect, test } from '../support/test.ts';
import type { Parlor } from '../support/parlor.ts';
import type { Upstream } from '../support/upstream.ts';

const launch = config.use!.launchOptions!;
const rebound = 'rebound.example';
test.use({
  launchOptions: { ...launch, args: [...launch.args!, `--host-resolver-rules=MAP ${rebound} 127.0.0.1`] },
  settings: async ({ upstream }, use) => use(pubmed(upstream)),
});

const query = 'query=tides&sort=date&page=1&pmid=11&address=%2Fliterature%3Fq%3Dtides&q=tides&article=11&after=0';

/** Creates a conversation, and articles in PubMed. */
async function createContent(parlor: Parlor, upstream: Upstream) {
  await placeArticles(upstream);
  await upstream.script({ steps: [{ text: 'Said.' }] });
  const turn = await EventStream.chat(parlor.url, { message: 'Say it' });
  const { conversation_id, message_id, user_message_id } = await turn.until('user_message_saved');
  const head = (await turn.rest()).at(-1)!.position;
  const fill = (path: string) =>
    path.replace('{conversation_id}', conversation_id).replace('{message_id}', message_id).replace(/\{\w+\}/, randomUUID());
  const ids = `conversation_id=${conversation_id}&message_id=${message_id}&before=${message_id}&payload_id=1`;
  const paths = [...functions(), ...contract().map(fill), '/rpc/events', '/send', '/literature', `/c/${conversation_id}`, '/v1/models', '/healthz'];
  const urls = paths.map((path) => `${parlor.url}${path}?${ids}&${query}`);
  const named = { intent_id: randomUUID(), conversation_id, message_id, user_message_id: randomUUID(), text: 'Forged', model: null, verdict: 'accepted', payload_id: '1', parameters: { temperature: '1' } };
  // Arguments of all functions: unknown ones are ignored.
  const body = {
    ...named, intent: named, message: 'Forged', title: 'Forged', pmid: '11', note: 'Forged', saved_at: null, name: 'Forged', days: null,
    text: 'Forged', through: user_message_id, stream: { id: randomUUID(), name: 'Forged', query: 'forged', instructions: '' },
    memory: { id: randomUUID(), text: 'Forged', created_at: 1 }, before: null, address: '/literature?q=forged', query: 'forged', sort: 'date', page: 1,
  };
  return { conversation_id, head, urls, body: JSON.stringify(body) };
}

/** The requests to the servers behind Parlor so far. */
async function outgoingRequests(upstream: Upstream): Promise<string[]> {
  const requests: { path: string }[] = await (await fetch(`${upstream.url}/control/requests`)).json();
  return requests.map(({ path }) => path);
}

test('other sites cannot change, query or read anything', async ({ page, parlor, upstream, browserLog }) => {
  browserLog.allow(/./);
  test.slow();
  const { conversation_id, head, urls, body } = await createContent(parlor, upstream);
  expect(urls.length, 'all functions and paths').toBeGreaterThan(55);
  // One that queries other servers, one that changes something, one that streams, the public API, the form, and a page.
  const names = ['/rpc/search_articles', '/rpc/rename_conversation', '/rpc/events', '/api/conversations', '/send', '/literature'];
  const thorough = names.map((name) => urls.find((url) => url.startsWith(`${parlor.url}${name}?`))!);
  expect(thorough).not.toContain(undefined);
  const log = await EventStream.everything(parlor.url, head);
  // Parlor's own requests are done.
  await expect.poll(async () => (await outgoingRequests(upstream)).length).toBeGreaterThan(0);
  const before = await outgoingRequests(upstream);
  const otherSite = await OtherSite.start();
  for (const host of ['localhost', '127.0.0.1']) {
    await page.goto(otherSite.at(host));
    expect(await page.evaluate(attack, { urls, thorough, body }), host).toEqual([]);
  }
  expect(await outgoingRequests(upstream)).toEqual(before);
  // The next event is the user's action.
  const renamed = await fetch(`${parlor.url}/api/conversations/${conversation_id}`, {
    method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"title":"By the person"}',
  });
  expect(renamed.status).toBe(200);
  expect(await log.next()).toMatchObject({ type: 'conversation_renamed', title: 'By the person' });
  log.close();
  await otherSite.close();
});

test('other sites open a search only by a click', async ({ page, parlor, upstream, browserLog }) => {
  browserLog.allow(/403 \(Forbidden\)/);
  await createContent(parlor, upstream);
  const search = `${parlor.url}/literature?q=tides`;
  const otherSite = await OtherSite.start();
  const asked = async () => (await outgoingRequests(upstream)).filter((path) => path.startsWith('/eutils'));

  await page.goto(otherSite.navigatingTo(search));
  await expect(page.getByRole('heading', { name: 'Open this search?' })).toBeVisible();
  for (const path of ['/rpc/search_articles?query=tides&sort=date&page=1', '/api/models']) {
    await page.goto(otherSite.navigatingTo(parlor.url + path));
    await page.waitForURL(parlor.url + path);
    await expect(page.locator('body')).toContainText('another site');
  }
  expect(await asked()).toEqual([]);
  await page.goto(otherSite.navigatingTo(search));
  await page.getByRole('link', { name: 'Open it' }).click();
  await expect(page.getByText('Tides of the moon').first()).toBeVisible();

  await page.goto(otherSite.at('localhost'));
  await page.evaluate((url) => {
    document.body.innerHTML = '<a>Tides</a>';
    document.querySelector('a')!.href = url;
  }, search);
  await page.getByRole('link', { name: 'Tides' }).click();
  await expect(page.getByText('Tides of the moon').first(), 'a link that a person follows').toBeVisible();
  await page.close();
  await otherSite.close();
});

test('a foreign name for this machine is refused', async ({ page, parlor, upstream, browserLog }) => {
  browserLog.allow(/403 \(Forbidden\)|Cross-Origin-Opener-Policy header has been ignored/);
  const { urls } = await createContent(parlor, upstream);
  const port = new URL(parlor.url).port;
  await page.goto(`http://${rebound}:${port}/`);
  await expect(page.getByRole('alert')).toContainText(`"${rebound}:${port}" to the setting server.allowed_hosts`);
  // Like a page of that name loaded from another server before the name was rebound to this one.
  const asked = (url: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host: `${rebound}:${port}`, 'sec-fetch-site': 'same-origin' };
      http(url, { headers }, (answer) => resolve(answer.resume().statusCode)).on('error', reject).end();
    });
  for (const url of urls) expect(await asked(url), url).toBe(403);
});
