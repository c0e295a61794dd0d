// Measurements from the user's side, in a real Chromium.
//
//   node measure.mjs <Parlor's URL> <the scripted model server's URL> <usual|largest|searching> [--quick] [--largest-ms=<the limit of `largest`>]
//
// Prints one JSON object. Playwright comes from end2end/, as for the end-to-end tests.
import { growing } from './growing.mjs';
import { largest } from './largest.mjs';
import { streaming } from './streaming.mjs';
import { searching } from './searching.mjs';
import { stopping } from './stopping.mjs';
import { PER_SECOND, launch } from './support.mjs';
import { switching } from './switching.mjs';
import { tabs } from './tabs.mjs';
import { typing } from './typing.mjs';
import { wholeAnswer } from './whole-answer.mjs';

const PARTS = {
  usual: [streaming, growing, switching, searching, stopping, tabs, typing, wholeAnswer],
  largest: [largest],
  searching: [searching],
};
const round = (value) => (value === null ? null : Math.round(value * 100) / 100);

let browser;
try {
  browser = await launch();
  const figures = [];
  const faults = [];
  for (const measure of PARTS[process.argv[4]]) figures.push(...(await measure(browser, faults)));
  const chromium = browser.version();
  console.log(JSON.stringify({ chromium, per_second: PER_SECOND, figures: figures.map(([name, value, unit]) => ({ name, value: round(value), unit })), faults }));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser?.close();
}
