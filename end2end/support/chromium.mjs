import { accessSync, constants } from 'node:fs';

const WITHOUT_WINDOWS = ['chromium-headless-shell'];
const WITH_WINDOWS = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * The system's Chromium, if installed; otherwise Playwright uses its own. As Playwright does, it prefers the one without windows, in which
 * a test takes half the time; measurements prefer the one that people use.
 *
 * @returns {string | undefined}
 */
export function packagedChromium({ hasWindows = false } = {}) {
  const folders = (process.env.PATH ?? '').split(':');
  const names = hasWindows ? [...WITH_WINDOWS, ...WITHOUT_WINDOWS] : [...WITHOUT_WINDOWS, ...WITH_WINDOWS];
  const places = names.flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
