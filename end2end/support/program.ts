import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the built programs. */
export const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url));

/** A program of this repository in its own process. */
export class Program {
  /** All output, for the report of a failed test. */
  output = '';
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    private readonly exited: Promise<string>,
  ) {}

  /** Starts `target/debug/<name>` and waits for the line with its URL. */
  static async start(name: string, args: string[], env: NodeJS.ProcessEnv): Promise<[Program, string]> {
    const path = `${target}/debug/${name}`;
    if (!existsSync(path)) throw new Error(`${path} is missing: make test builds it`);
    const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(`exit code ${code ?? signal}`));
    });
    const program = new Program(name, child, exited);
    const ready = new Promise<string>((resolve) => {
      const collect = (chunk: string) => {
        program.output += chunk;
        const line = /ready at (http:\/\/\S+)\s/.exec(program.output);
        if (line) resolve(line[1]!.replace(/\/$/, ''));
      };
      child.stdout!.setEncoding('utf8').on('data', collect);
      child.stderr!.setEncoding('utf8').on('data', collect);
    });
    const url = await Promise.race([
      ready,
      exited.then((how) => Promise.reject(new Error(`${name} ended before it was ready (${how}):\n${program.output}`))),
    ]);
    return [program, url];
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Sends the signal and waits for the exit. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.running) this.child.kill(signal);
    await this.exited;
  }
}

/** This process's environment without variables that configure Parlor. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OPENAI|ANTHROPIC|GEMINI|PARLOR|LEPTOS)_/.test(name)));
}
