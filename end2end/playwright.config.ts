import { defineConfig, devices } from '@playwright/test';
import { packagedChromium } from './support/chromium.mjs';

const root = process.getuid?.() === 0;

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  // Each test has its own server and data, each worker a scripted model server (support/test.ts), so tests can run in
  // parallel.
  fullyParallel: true,
  // One more than the cores of a small machine: a test waits a third of its time.
  workers: 3,
  // A test that passes only at the second attempt has found a problem. (In CI, `make test` runs up to three failed ones again.)
  retries: 0,
  forbidOnly: !!process.env.CI,
  // For a machine several times slower than a developer's.
  timeout: 180_000,
  expect: { timeout: 45_000 },
  // `make test` reads the counts from the JSON.
  reporter: [['list'], ['json', { outputFile: '../target/e2e.json' }]],
  use: {
    ...devices['Desktop Chrome'],
    // Neither the server's (UTC) nor a whole number of hours from it: server-rendered HTML must not depend on it.
    timezoneId: 'Asia/Kolkata',
    locale: 'en-GB',
    // Recording makes tests take more than twice as long: `--trace retain-on-failure` records one that fails.
    trace: 'off',
    launchOptions: {
      executablePath: packagedChromium(),
      chromiumSandbox: !root,
      args: [
        '--disable-background-networking',
        '--disable-component-update',
        '--no-first-run',
        // Other sites and frames without an origin have processes of their own, as in a browser with windows.
        '--site-per-process',
        '--enable-features=IsolateSandboxedIframes',
      ],
    },
  },
});
