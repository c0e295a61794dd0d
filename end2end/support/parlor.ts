import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program, cleanEnvironment } from './program.ts';

/** A test must run the same on a machine with a Jupyter kernel. */
const WITHOUT_PYTHON = '\n[python]\nenabled = false\n';

/** The calls for titles would come at any time. */
const WITHOUT_TITLES = '\n[titles]\nmode = "never"\n';

/** The real server with its own data folder. It keeps folder and address across restarts. */
export class Parlor {
  #program!: Program;
  #output = '';
  url = '';

  private constructor(
    private readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /**
   * `environment` has the base URLs of models; an undefined variable is unset. `settings` is the content of the
   * settings file.
   */
  static async start(environment: NodeJS.ProcessEnv, settings = ''): Promise<Parlor> {
    const folder = await mkdtemp(join(tmpdir(), 'parlor-e2e-'));
    const file = join(folder, 'settings.toml');
    let ours = settings.includes('[python]') ? settings : settings + WITHOUT_PYTHON;
    if (!settings.includes('[titles]')) ours += WITHOUT_TITLES;
    await writeFile(file, withTimeouts(ours));
    const parlor = new Parlor(folder, { ...cleanEnvironment(), PARLOR_CONFIG: file, ...environment });
    await parlor.start();
    return parlor;
  }

  /** The data folder. */
  get data(): string {
    return join(this.folder, 'data');
  }

  /** Copies the data of a stopped Parlor. */
  backUp(): Promise<void> {
    return cp(this.data, join(this.folder, 'backup'), { recursive: true });
  }

  /** Replaces the data with the copy. */
  async restore(): Promise<void> {
    await rm(this.data, { recursive: true });
    await cp(join(this.folder, 'backup'), this.data, { recursive: true });
  }

  /** Restarts it after `kill` or `stop`. */
  async start(): Promise<void> {
    const address = this.url ? new URL(this.url).host : '127.0.0.1:0';
    const args = ['serve', '--addr', address, '--data', this.data];
    [this.#program, this.url] = await Program.start('parlor', args, this.environment);
  }

  /** Kills it without a grace period, like a power cut. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    return this.#end(signal);
  }

  /** Requests a shutdown. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Everything printed since the first start. */
  get output(): string {
    return this.#output + this.#program.output;
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const program = this.#program;
    if (!program.running) return;
    await program.end(signal);
    this.#output += program.output;
    program.output = '';
  }
}

/**
 * A test may hold an answer for longer than the default timeout of a silent model server, if the machine is slow. No
 * test holds one whose end a shutdown should wait for.
 */
function withTimeouts(settings: string): string {
  const timeouts = '[timeouts]\nsilence = "1h"\nshutdown = "100ms"\n';
  const table = '[timeouts]\n';
  if (settings.includes(table)) return settings.replace(table, timeouts);
  return `${settings}\n${timeouts}`;
}
