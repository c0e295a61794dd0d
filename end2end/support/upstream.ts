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

  /** One request of its control interface, e.g. `control('POST', 'scripts', {…})`. */
  async control(method: 'GET' | 'POST' | 'DELETE', what: string, body?: unknown): Promise<any> {
    const response = await fetch(`${this.url}/control/${what}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /control/${what}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
}
