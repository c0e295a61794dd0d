/**
 * A real OpenID provider for the tests, on a free port of loopback. Prints its URL as Parlor's programs do.
 *
 * - `/interaction/ID`: its sign-in form. Every name in the list of users signs in, without a password; *Cancel* refuses.
 * - `POST /control/users`: sets the users, by name: `{"ann": {"sub": "1", "groups": ["staff"]}}`
 * - `POST /control/rotate`: signs with another key from now on
 * - `POST /control/down`: every request fails from now on; `/control/up` ends that
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const CLIENT_ID = 'parlor';
const CLIENT_SECRET = 'a client secret of the tests';

let users = {};
let isDown = false;
let issuer;
let provider;
let handle;

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

function start() {
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: ['http://127.0.0.1/sign-in/callback'],
        post_logout_redirect_uris: ['http://127.0.0.1/sign-in'],
      },
    ],
    jwks: { keys: [newKey()] },
    cookies: { keys: ['a cookie key of the tests'] },
    claims: { email: ['email', 'email_verified'], profile: ['preferred_username', 'name'], groups: ['groups'] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = page(`<h1>Sign out of the provider?</h1>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`);
        },
      },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    findAccount: (_, sub) => {
      const user = Object.values(users).find((user) => user.sub === sub);
      return user && { accountId: sub, claims: () => user };
    },
    // Nobody is asked to consent.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
    renderError: (context, out) => {
      context.body = page(`<h1>The provider failed</h1><pre>${out.error}: ${out.error_description}</pre>`);
    },
  });
  // Parlor's port is not known beforehand.
  const isOurs = (path) => (url) => {
    const { hostname, pathname } = new URL(url);
    return ['127.0.0.1', 'localhost'].includes(hostname) && pathname === path;
  };
  provider.Client.prototype.redirectUriAllowed = isOurs('/sign-in/callback');
  provider.Client.prototype.postLogoutRedirectUriAllowed = isOurs('/sign-in');
  handle = provider.callback();
}

function page(content) {
  return `<!DOCTYPE html><html lang="en"><head><title>A provider</title></head><body>${content}</body></html>`;
}

async function read(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

async function interact(request, response) {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html');
    response.end(
      page(`<form method="post"><label>User <input name="user" autofocus></label>
        <button>Sign in here</button> <button name="cancel" value="yes">Cancel</button></form>`),
    );
    return;
  }
  const form = new URLSearchParams(await read(request));
  const user = users[form.get('user')];
  const result =
    form.has('cancel') || !user
      ? { error: 'access_denied', error_description: '<b>The user</b> did not want to.' }
      : { login: { accountId: user.sub } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

async function control(request, response) {
  switch (request.url) {
    case '/control/users':
      users = JSON.parse(await read(request));
      break;
    case '/control/rotate':
      start();
      break;
    case '/control/down':
    case '/control/up':
      isDown = request.url === '/control/down';
      break;
    default:
      response.statusCode = 404;
  }
  response.end();
}

const server = createServer(async (request, response) => {
  try {
    if (request.url.startsWith('/control/')) await control(request, response);
    else if (isDown) response.writeHead(503).end();
    else if (request.url.startsWith('/interaction/')) await interact(request, response);
    else handle(request, response);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end(String(error));
  }
});

server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  start();
  console.log(`The provider is ready at ${issuer}`);
});
// Its warnings must not end it once nobody reads them.
process.stdout.on('error', () => {});
// Ends with the test that started it, however that ends.
process.stdin.resume().on('end', () => process.exit());
