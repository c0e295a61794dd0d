import config from './playwright.config.ts';

/** The tests' set-up, for `make photos`. */
export default { ...config, testDir: 'photos' };
