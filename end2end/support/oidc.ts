import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../tests/oidc/provider.mjs', import.meta.url));

/** Parlor's name and secret at the provider. */
export const CLIENT_SECRET = 'a client secret of the tests';

/** A real OpenID provider in its own process (tests/oidc). */
export class OidcProvider {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(): Promise<OidcProvider> {
    const child = spawn('node', [program], { stdio: ['pipe', 'pipe', 'ignore'] });
    const url = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        const line = /ready at (http:\/\/\S+)\s/.exec(output);
        if (line) resolve(line[1]!);
      });
      child.once('exit', () => reject(new Error('the provider ended before it was ready: npm ci in tests/oidc')));
    });
    return new OidcProvider(url, child);
  }

  /** Sets who can sign in, by the name in its form. */
  async setUsers(users: Record<string, Record<string, unknown>>): Promise<void> {
    await fetch(`${this.url}/control/users`, { method: 'POST', body: JSON.stringify(users) });
  }

  /** Parlor's settings for it. Its secret is in the variable `OIDC_SECRET`. */
  get settings(): string {
    return `
[accounts.oidc]
issuer = "${this.url}"
client_id = "parlor"
client_secret_env = "OIDC_SECRET"
name = "Team ID"
`;
  }

  kill(): void {
    this.process.kill();
  }
}
