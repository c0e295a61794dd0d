import { Program, cleanEnvironment } from './program.ts';

/** The scripted model server (tests/upstream): says what a test tells it to, over the real protocol. */
export class Upstream {
  #program!: Program;
  url = '';

  private constructor() {}

  static async start(): Promise<Upstream> {
    const upstream = new Upstream();
    await upstream.start();
    return upstream;
  }

  /** Starts it again after `kill`, at the same address. It has forgotten its scripts. */
  async start(): Promise<void> {
    const port = this.url ? new URL(this.url).port : '0';
    [this.#program, this.url] = await Program.start('upstream', ['--port', port], cleanEnvironment());
  }

  /** Ends it in the middle of whatever it says. */
  kill(): Promise<void> {
    return this.#program.end('SIGKILL');
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

  /** What `/v1/models` lists from now on, the newest first. */
  listModels(...models: string[]): Promise<void> {
    const data = models.map((id, index) => ({ id, created: 1000 - index }));
    return this.#control('POST', 'models', { body: { data } });
  }

  /** The same, with what else such a list says of a model. */
  describeModels(...data: ({ id: string } & Record<string, unknown>)[]): Promise<void> {
    return this.#control('POST', 'models', { body: { data } });
  }

  /** Refuses every other key from now on. Parlor's is `sk-test` unless a test says otherwise. */
  requireKey(key: string): Promise<void> {
    return this.#control('POST', 'key', key);
  }

  /** What stands at an address of this server from now on, as JSON unless it is a text. */
  page(path: string, body: unknown): Promise<void> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.#control('POST', 'pages', { path, body: { text } });
  }

  /** From now on the address takes requests and never answers. */
  hang(path: string): Promise<void> {
    return this.#control('POST', 'pages', { path, body: 'never' });
  }

  /** Every request for an answer that Parlor has sent, without what it tells about each message. */
  async asked(): Promise<Asked[]> {
    const requests: { path: string; body: Asked }[] = await this.#control('GET', 'requests');
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
  /** How often it is played; always, if nothing is said. */
  times?: number;
};

export type Asked = { model: string; messages: { role: string; content: string }[]; temperature?: number; tool_choice?: { function: { name: string } } };
