import { accessSync, constants } from 'node:fs';

/**
 * The system's Chromium, if installed; otherwise Playwright uses its own.
 *
 * @returns {string | undefined}
 */
export function packagedChromium() {
  const folders = (process.env.PATH ?? '').split(':');
  const places = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
