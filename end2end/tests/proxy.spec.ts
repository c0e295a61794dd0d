/** The page behind a proxy with its own host name. */
import { Parlor } from '../support/parlor.ts';
import { Proxy } from '../support/proxy.ts';
import { expect, test } from '../support/test.ts';

test('a refused message names the host to allow', async ({ chat, parlor, browserLog }) => {
  browserLog.allow(/403 \(Forbidden\)/);
  const proxy = await Proxy.start();
  proxy.target = parlor.url;
  await chat.open(proxy.url);
  await chat.message.fill('Hello');
  await chat.message.press('Enter');
  await expect(chat.page.getByText(`add "${proxy.host}" to the setting server.allowed_hosts`)).toBeVisible();
  await expect(chat.message, 'the text is kept').toHaveValue('Hello');
  await proxy.close();
});

test.describe('with a password', () => {
  test.use({ httpCredentials: { username: 'ann', password: 'secret' } });

  for (const keepHost of [false, true]) {
    test(`answers stream through a proxy that ${keepHost ? 'keeps' : 'sets'} Host`, async ({ chat, upstream }) => {
      await upstream.script({ steps: [{ text: 'First' }, { gate: 'rest' }, { text: ' last.' }] });
      const proxy = await Proxy.start({ password: 'ann:secret', keepHost });
      const model = { OPENAI_BASE_URL: upstream.baseUrl, OPENAI_API_KEY: 'sk-test' };
      const parlor = await Parlor.start(model, `[server]\nallowed_hosts = ["${proxy.host}"]\n`);
      proxy.target = parlor.url;
      await chat.open(proxy.url);
      await chat.say('Hello');
      await expect(chat.answers.getByText('First', { exact: true })).toBeVisible();
      await upstream.open('rest');
      await expect(chat.answers.getByText('First last.', { exact: true })).toBeVisible();
      await chat.done();
      await expect(chat.page.getByText('Reconnecting')).toHaveCount(0);
      await chat.page.close();
      await parlor.dispose();
      await proxy.close();
    });
  }
});
