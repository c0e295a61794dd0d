import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parlor } from './parlor.ts';

const PAGE_BYTES = 4096;

/** Damages the stored row that contains these words, like a bad disk: the bytes before them, in a row of JSON. */
export async function damage(parlor: Parlor, marker: string): Promise<void> {
  await edit(parlor, marker, (bytes, at) => bytes.write('x', bytes.lastIndexOf('{"', at)));
}

/** Overwrites the database page that contains these words with zeros. */
export async function damagePage(parlor: Parlor, marker: string): Promise<void> {
  await edit(parlor, marker, (bytes, at) => bytes.fill(0, at - (at % PAGE_BYTES), at - (at % PAGE_BYTES) + PAGE_BYTES));
}

/** Changes stored rows by SQL, as another version of Parlor would have stored them. */
export async function changeRows(parlor: Parlor, sql: string, ...values: string[]): Promise<void> {
  await parlor.stop();
  const change = [
    'import sqlite3, sys',
    'database = sqlite3.connect(sys.argv[1])',
    'assert database.execute(sys.argv[2], sys.argv[3:]).rowcount > 0',
    'database.commit()',
  ];
  execFileSync('python3', ['-c', change.join('\n'), join(parlor.data, 'parlor.db'), sql, ...values]);
  await parlor.start();
}

async function edit(parlor: Parlor, marker: string, change: (bytes: Buffer, at: number) => void): Promise<void> {
  await parlor.stop();
  const file = join(parlor.data, 'parlor.db');
  // A server that stops leaves in the WAL what a reader still held back.
  execFileSync('python3', ['-c', 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(TRUNCATE)")', file]);
  const bytes = await readFile(file);
  let found = 0;
  for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) {
    change(bytes, at);
    found += 1;
  }
  if (found === 0) throw new Error(`nothing is stored with ${marker}`);
  await writeFile(file, bytes);
  await parlor.start();
}
