/** The page behind a proxy with its own host name. */
import { Proxy } from '../support/proxy.ts';
import { expect, test as base } from '../support/test.ts';

const test = base.extend<{ keepHost: boolean; password: string | undefined; reverseProxy: Proxy }>({
  keepHost: [false, { option: true }],
  password: [undefined, { option: true }],
  reverseProxy: async ({ keepHost, password }, use) => {
    const proxy = await Proxy.start({ password, keepHost });
    await use(proxy);
    await proxy.close();
  },
});

test('a refused message names the host to allow', async ({ chat, parlor, reverseProxy: proxy, browserLog }) => {
  browserLog.allow(/403 \(Forbidden\)/);
  proxy.target = parlor.url;
  await chat.open(proxy.url);
  await chat.message.fill('Hello');
  await chat.message.press('Enter');
  await expect(chat.page.getByText(`add "${proxy.host}" to the setting server.allowed_hosts`)).toBeVisible();
  await expect(chat.message, 'the text is kept').toHaveValue('Hello');
});

test.describe('with a password', () => {
  test.use({
    httpCredentials: { username: 'ann', password: 'secret' },
    password: 'ann:secret',
    settings: async ({ reverseProxy: proxy }, use) => use(`[server]\nallowed_hosts = ["${proxy.host}"]\n`),
  });

  for (const keepHost of [false, true]) {
    test.describe(`that ${keepHost ? 'keeps' : 'sets'} Host`, () => {
      test.use({ keepHost });

      test('answers stream through the proxy', async ({ chat, parlor, reverseProxy: proxy, upstream }) => {
        await upstream.script({ steps: [{ text: 'First' }, { gate: 'rest' }, { text: ' last.' }] });
        proxy.target = parlor.url;
        await chat.open(proxy.url);
        await chat.say('Hello');
        await expect(chat.answers.getByText('First', { exact: true })).toBeVisible();
        await upstream.open('rest');
        await expect(chat.answers.getByText('First last.', { exact: true })).toBeVisible();
        await chat.done();
        await expect(chat.page.getByText('Reconnecting')).toHaveCount(0);
        await chat.page.close();
      });
    });
  }
});
