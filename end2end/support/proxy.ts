import { createServer, request, type Server } from 'node:http';

/**
 * A reverse proxy: it requires a password (if set) and forwards everything,
 * including the password, with the server's own host name unless `keepHost` is set.
 */
export class Proxy {
  /** The upstream server; may be set later. */
  target = '';
  url = '';

  private constructor(private readonly server: Server) {}

  static async start({ password, keepHost = false }: { password?: string; keepHost?: boolean } = {}): Promise<Proxy> {
    const expected = password && `Basic ${Buffer.from(password).toString('base64')}`;
    const server = createServer((incoming, outgoing) => {
      if (expected && incoming.headers.authorization !== expected) {
        outgoing.writeHead(401, { 'www-authenticate': 'Basic realm="proxy"' }).end();
        return;
      }
      const host = keepHost ? incoming.headers.host : new URL(proxy.target).host;
      const headers = { ...incoming.headers, host };
      const passed = request(new URL(incoming.url ?? '/', proxy.target), { method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      incoming.pipe(passed);
    });
    const proxy = new Proxy(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    proxy.url = `http://127.0.0.1:${address.port}`;
    return proxy;
  }

  get host(): string {
    return new URL(this.url).host;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}
