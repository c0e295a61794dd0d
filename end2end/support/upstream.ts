import { setTimeout } from 'node:timers/promises';
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

  /** Removes what a test has left: scripts, gates, pages, models, the key, the recorded requests. */
  async reset(): Promise<void> {
    if (!this.#program.running) return this.start();
    // An answer that is still open could pass the gates of the next test.
    const hasAnswers = async () => (await this.#control('GET', 'state')).open_streams > 0;
    while (await hasAnswers()) await setTimeout(10);
    await this.#control('POST', 'reset');
    await this.#control('POST', 'key', null);
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

  /** Sets the models of `/v1/models`, newest first. Parlor caches the list: see the option `models` of `test`. */
  listModels(models: Model[]): Promise<void> {
    const data = models.map((model, index) => (typeof model === 'string' ? { id: model, created: 1000 - index } : model));
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

  /** The requests to edit an image: the text fields of each form, and the sizes and types of its files. */
  async imageEdits(): Promise<Record<string, unknown>[]> {
    const requests: { path: string; body: Record<string, unknown> }[] = await this.#control('GET', 'requests');
    return requests.filter(({ path }) => path.endsWith('/images/edits')).map(({ body }) => body);
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

/** The id of a model, or an entry of `/v1/models`. */
export type Model = string | ({ id: string } & Record<string, unknown>);

export type Script = {
  when?: { user_contains?: string; model?: string; tool_gave?: string; image_prompt?: string };
  /** The form in which the endpoint sends thinking. */
  thinking?: string;
  steps: (string | Record<string, unknown>)[];
  /** The number of times it is played; default: unlimited. */
  times?: number;
};

export type ModelRequest = { model: string; messages: { role: string; content: string }[]; temperature?: number; tool_choice?: { function: { name: string } } };

/** A raw chunk of an answer, for `{ raw: chunk(…) }`. */
export const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
