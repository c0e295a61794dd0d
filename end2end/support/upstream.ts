import { Program, cleanEnvironment } from './program.ts';

/** The scripted model server (tests/upstream): plays a test's scripts over the real protocol. */
export class Upstream {
  #program!: Program;
  url = '';

  private constructor() {}

  static async start(): Promise<Upstream> {
    const upstream = new Upstream();
    await upstream.start();
    return upstream;
  }

  /** Restarts it after `kill`, at the same address and without scripts. */
  async start(): Promise<void> {
    const port = this.url ? new URL(this.url).port : '0';
    [this.#program, this.url] = await Program.start('upstream', ['--port', port], cleanEnvironment());
  }

  /** Kills it in the middle of an answer. */
  kill(): Promise<void> {
    return this.#program.end('SIGKILL');
  }

  /** The value for `OPENAI_BASE_URL`. */
  get baseUrl(): string {
    return `${this.url}/v1`;
  }

  /**
   * Adds a script, e.g. `script({ when: { user_contains: 'greet' }, steps: [{ text: 'Hello' }, { gate: 'rest' },
   * { text: ' world' }, { finish: 'stop' }] })`. tests/upstream/src/script.rs documents all steps.
   */
  script(script: Script): Promise<void> {
    return this.#control('POST', 'scripts', script);
  }

  /** Waits until an answer has reached the gate: everything before it has been sent, nothing after it. */
  reached(gate: string): Promise<void> {
    return this.#control('GET', `gates/${encodeURIComponent(gate)}`);
  }

  /** Opens the gate. */
  open(gate: string): Promise<void> {
    return this.#control('POST', `gates/${encodeURIComponent(gate)}`);
  }

  /** Sets the models of `/v1/models`, newest first. */
  listModels(...models: string[]): Promise<void> {
    const data = models.map((id, index) => ({ id, created: 1000 - index }));
    return this.#control('POST', 'models', { body: { data } });
  }

  /** The same, with the other fields of such a list. */
  describeModels(...data: ({ id: string } & Record<string, unknown>)[]): Promise<void> {
    return this.#control('POST', 'models', { body: { data } });
  }

  /** Rejects every other key from now on. Parlor's default is `sk-test`. */
  requireKey(key: string): Promise<void> {
    return this.#control('POST', 'key', key);
  }

  /** Sets the content of a path of this server, as JSON unless it is a string. */
  page(path: string, body: unknown): Promise<void> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.#control('POST', 'pages', { path, body: { text } });
  }

  /** Makes a path accept requests and never respond. */
  hang(path: string): Promise<void> {
    return this.#control('POST', 'pages', { path, body: 'never' });
  }

  /** All completion requests of Parlor, without message metadata. */
  async asked(): Promise<ModelRequest[]> {
    const requests: { path: string; body: ModelRequest }[] = await this.#control('GET', 'requests');
    const asked = requests.filter(({ path }) => path.endsWith('/chat/completions')).map(({ body }) => body);
    for (const { messages } of asked) {
      for (const message of messages) {
        if (typeof message.content === 'string') message.content = message.content.replace(/^<!-- METADATA: .*? -->\n/, '');
      }
    }
    return asked;
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
  when?: { user_contains?: string; model?: string; tool_gave?: string };
  steps: (string | Record<string, unknown>)[];
  /** The number of times it is played; default: unlimited. */
  times?: number;
};

export type ModelRequest = { model: string; messages: { role: string; content: string }[]; temperature?: number; tool_choice?: { function: { name: string } } };
