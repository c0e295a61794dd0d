import { defineConfig, devices } from '@playwright/test';
import { packagedChromium } from './support/chromium.mjs';

const root = process.getuid?.() === 0;

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  // Each test has its own server, data and scripted model (support/test.ts), so tests can run in parallel.
  fullyParallel: true,
  workers: 2,
  // A test that passes only at the second attempt has found a problem.
  retries: 0,
  forbidOnly: !!process.env.CI,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  // `make test` reads the counts from the JSON.
  reporter: [['list'], ['json', { outputFile: '../target/e2e.json' }]],
  use: {
    ...devices['Desktop Chrome'],
    // Neither the server's (UTC) nor a whole number of hours from it: server-rendered HTML must not depend on it.
    timezoneId: 'Asia/Kolkata',
    locale: 'en-GB',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: packagedChromium(),
      chromiumSandbox: !root,
      args: ['--disable-background-networking', '--disable-component-update', '--no-first-run'],
    },
  },
});
