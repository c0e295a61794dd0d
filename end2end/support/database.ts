import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const tables = `
CREATE TABLE unemployment (month TEXT, region TEXT, rate REAL, PRIMARY KEY (month, region));
INSERT INTO unemployment VALUES ('2024-01', 'Capital', 4.2), ('2024-01', 'North', 3.9), ('2024-02', 'Capital', 4.4), ('2024-02', 'North', NULL);
CREATE TABLE regions (name TEXT PRIMARY KEY, people INTEGER);
INSERT INTO regions VALUES ('Capital', 1863000), ('North', 9007199254740993);
CREATE VIEW worst AS SELECT * FROM unemployment WHERE rate > 4;
`;

const documentation = `
# Labour market
Monthly figures of people without work.
## unemployment
The unemployment rate by month and region.
- rate: percent of the workforce
- region: a region of \`regions\`
`;

/** A small database of SQLite, made with Python's standard library. */
export class Database {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parlor-database-'));
  /** The settings of Parlor that name it. */
  readonly settings: string;

  constructor() {
    const [file, about] = [join(this.#folder, 'statistics.db'), join(this.#folder, 'statistics.md')];
    execFileSync('python3', ['-c', 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])', file, tables]);
    writeFileSync(about, documentation);
    this.settings = [
      '[data]',
      'title = "Danish statistics"',
      'placeholder = "Ask about Danish statistics..."',
      'questions = ["How has unemployment changed?"]',
      '[[databases]]',
      'name = "statistics"',
      `url = ${JSON.stringify(`sqlite:${file}`)}`,
      `documentation = ${JSON.stringify(about)}`,
    ].join('\n');
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
