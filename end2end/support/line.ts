import { createServer, connect, type Server, type Socket } from 'node:net';

/** A connection to a server that can fail silently, like the network of a laptop that was moved. */
export class Line {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #state: 'open' | 'silent' | 'cut' = 'open';
  url = '';

  private constructor(target: URL) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      if (this.#state === 'cut') return near.destroy();
      const connection = { near, far: connect(Number(target.port), target.hostname), dead: this.#state === 'silent' };
      this.#connections.add(connection);
      near.on('close', () => this.#connections.delete(connection));
      near.on('data', () => connection.dead && this.#state === 'open' && near.resetAndDestroy());
      pass(connection, connection.near, connection.far);
      pass(connection, connection.far, connection.near);
    });
  }

  static async start(target: string): Promise<Line> {
    const line = new Line(new URL(target));
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    const address = line.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the line has no port');
    line.url = `http://127.0.0.1:${address.port}`;
    return line;
  }

  /** Drops all data silently from now on; connections, also new ones, stay open. */
  silence(): void {
    this.#state = 'silent';
    for (const connection of this.#connections) connection.dead = true;
  }

  /** New connections work again. Older ones stay dead: a write on one fails with a reset. */
  mend(): void {
    this.#state = 'open';
  }

  /** Closes all connections, including new ones. */
  cut(): void {
    this.#state = 'cut';
    this.#end();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#end();
    await closed;
  }

  #end(): void {
    for (const { near, far } of this.#connections) {
      near.destroy();
      far.destroy();
    }
  }
}

type Connection = { near: Socket; far: Socket; dead: boolean };

function pass(connection: Connection, from: Socket, to: Socket): void {
  from.on('data', (bytes) => connection.dead || to.write(bytes));
  from.on('end', () => connection.dead || to.end());
  from.on('error', () => {});
  from.on('close', () => connection.dead || to.destroy());
}
