import { Program, cleanEnvironment } from './program.ts';

/** The scripted model server (tests/upstream): says what a test tells it to, over the real protocol. */
export class Upstream {
  private constructor(
    readonly program: Program,
    readonly url: string,
  ) {}

  static async start(): Promise<Upstream> {
    return new Upstream(...(await Program.start('upstream', [], cleanEnvironment())));
  }

  /** What `OPENAI_BASE_URL` should be. */
  get baseUrl(): string {
    return `${this.url}/v1`;
  }

  /**
   * What the model will answer, e.g. `script({ when: { user_contains: 'greet' }, steps: [{ text: 'Hello' }, { gate: 'rest' },
   * { text: ' world' }, { finish: 'stop' }] })`. tests/upstream/src/script.rs has all the words.
   */
  script(script: Script): Promise<void> {
    return this.#control('POST', 'scripts', script);
  }

  /** Waits until an answer stands at the gate: all before it has been sent, nothing after it. */
  reached(gate: string): Promise<void> {
    return this.#control('GET', `gates/${encodeURIComponent(gate)}`);
  }

  /** Lets what stands at the gate go on. */
  open(gate: string): Promise<void> {
    return this.#control('POST', `gates/${encodeURIComponent(gate)}`);
  }

  /** Every request that Parlor has sent. */
  requests(): Promise<any[]> {
    return this.#control('GET', 'requests');
  }

  async #control(method: 'GET' | 'POST', what: string, body?: unknown): Promise<any> {
    const response = await fetch(`${this.url}/control/${what}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /control/${what}: ${response.status} ${text}`);
    return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined;
  }
}

export type Script = {
  when?: { user_contains?: string; [condition: string]: unknown };
  steps: Record<string, unknown>[];
  times?: number;
};
