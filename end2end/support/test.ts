/**
 * `test` for this folder's specs. Each test gets a scripted model server without scripts and its own real Parlor, whose
 * URL is the base of `page`: `page.goto('/')`. Wait for an expected state, never for a time.
 */
import { test as base, expect } from '@playwright/test';
import { BrowserLog } from './browser-log.ts';
import { Chat } from './chat.ts';
import { Parlor } from './parlor.ts';
import { Line } from './line.ts';
import { Upstream, type Model } from './upstream.ts';

type Fixtures = {
  /** Variables for Parlor, merged with the defaults: `test.use({ environment: { OPENAI_BASE_URL: undefined } })`. */
  environment: NodeJS.ProcessEnv;
  /** Parlor's settings file: `test.use({ settings: '[log]\nkeep_events = 5' })`. */
  settings: string;
  /**
   * The models that Parlor finds when it starts: `test.use({ models: ['small', 'large'] })`. By default the built-in ones.
   * Playwright takes two or more objects for its own notation: `test.use({ models: [objects, { scope: 'test' }] })`.
   */
  models: Model[];
  /** Allows the browser code to panic: `test.use({ faults: true })`. */
  faults: boolean;
  upstream: Upstream;
  parlor: Parlor;
  /** A breakable connection to Parlor: `chat.open(line.url)`. */
  line: Line;
  browserLog: BrowserLog;
  /** The page object of `page`. */
  chat: Chat;
  /** Opens another tab. */
  newTab: () => Promise<Chat>;
};

type WorkerFixtures = {
  /** The process of `upstream`. */
  upstreamProcess: Upstream;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  environment: [{}, { option: true }],
  settings: ['', { option: true }],
  models: [[], { option: true }],
  faults: [false, { option: true }],

  upstreamProcess: [
    async ({}, use) => {
      const upstream = await Upstream.start();
      await use(upstream);
      await upstream.kill();
    },
    { scope: 'worker' },
  ],

  upstream: async ({ upstreamProcess: upstream, models }, use) => {
    await upstream.reset();
    if (models.length > 0) await upstream.listModels(models);
    await use(upstream);
  },

  parlor: async ({ upstream, environment, settings }, use, testInfo) => {
    const model = { OPENAI_BASE_URL: upstream.baseUrl, OPENAI_API_KEY: 'sk-test' };
    const parlor = await Parlor.start({ ...model, ...environment }, settings);
    await use(parlor);
    await parlor.dispose();
    if (testInfo.status !== testInfo.expectedStatus) await testInfo.attach('parlor.log', { body: parlor.output });
    expect(parlor.output, "the server's log").not.toContain('panicked at');
  },

  line: async ({ parlor }, use) => {
    const line = await Line.start(parlor.url);
    await use(line);
    await line.close();
  },

  baseURL: async ({ parlor }, use) => use(parlor.url),

  chat: async ({ page }, use) => use(new Chat(page)),

  newTab: async ({ context, chat: _ }, use) => use(async () => new Chat(await context.newPage())),

  browserLog: [
    async ({ browser, context, faults }, use) => {
      const log = new BrowserLog(faults);
      log.watch(context);
      // A test may create more of them.
      const newContext = browser.newContext.bind(browser);
      browser.newContext = async (options) => {
        const another = await newContext(options);
        log.watch(another);
        return another;
      };
      await use(log);
      browser.newContext = newContext;
      log.expectNothing();
    },
    { auto: true },
  ],
});

export { expect };
