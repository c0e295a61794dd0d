import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './program.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** What a command writes into a checkout, or what belongs to its user. */
const NOT_LINKED = ['.git', 'data', 'dist', 'Leptos.toml'];

/** A checkout of the repository of its own: links to everything in it but the data. */
export class Checkout {
  #end: () => Promise<void> = async () => {};

  private constructor(readonly folder: string) {}

  /** Makes the links. `change` changes its Leptos.toml. */
  static async link(change: (settings: string) => string): Promise<Checkout> {
    const folder = await mkdtemp(join(tmpdir(), 'parlor-checkout-'));
    for (const entry of await readdir(repository)) {
      if (!NOT_LINKED.includes(entry)) await symlink(join(repository, entry), join(folder, entry));
    }
    await writeFile(join(folder, 'Leptos.toml'), change(await readFile(join(repository, 'Leptos.toml'), 'utf8')));
    // The tests have built everything, with other features than `make run` would.
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/cargo'), '#!/bin/sh\n');
    await chmod(join(folder, 'bin/cargo'), 0o755);
    return new Checkout(folder);
  }

  /** Runs `make` in another folder until it prints the URL of Parlor. */
  async make(args: string[], environment: NodeJS.ProcessEnv): Promise<string> {
    const env = { ...cleanEnvironment(), ...environment, PATH: `${this.folder}/bin:${process.env.PATH}` };
    // A process group of its own, since make does not pass signals on.
    const child = spawn('make', ['-C', this.folder, ...args], { cwd: tmpdir(), env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#end = async () => {
      if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
      await exited;
    };
    let output = '';
    return new Promise((resolve, reject) => {
      const collect = (chunk: string) => {
        output += chunk;
        const line = /ready at (http:\/\/\S+)\s/.exec(output);
        if (line) resolve(line[1]!);
      };
      child.stdout.setEncoding('utf8').on('data', collect);
      child.stderr.setEncoding('utf8').on('data', collect);
      void exited.then(() => reject(new Error(`make ended before Parlor was ready:\n${output}`)));
    });
  }

  async dispose(): Promise<void> {
    await this.#end();
    await rm(this.folder, { recursive: true, force: true });
  }
}
