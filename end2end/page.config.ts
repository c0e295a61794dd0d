import { defineConfig } from '@playwright/test';
import config from './playwright.config.ts';

/** A program with a page of its own, and its own site: `make test-page` builds both. */
export default defineConfig(config, { testDir: 'example', workers: 1, outputDir: 'test-results/example' });
