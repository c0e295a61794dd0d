import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parlor } from './parlor.ts';

/** Damages the stored row that contains these words, like a bad disk: the bytes before them, in a row of JSON. */
export async function damage(parlor: Parlor, marker: string): Promise<void> {
  await parlor.stop();
  const file = join(parlor.data, 'parlor.db');
  const bytes = await readFile(file);
  let found = 0;
  for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) {
    const begin = bytes.lastIndexOf('{"', at);
    bytes.write('x', begin);
    found += 1;
  }
  if (found === 0) throw new Error(`nothing is stored with ${marker}`);
  await writeFile(file, bytes);
  await parlor.start();
}
