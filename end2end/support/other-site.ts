import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Another site: an empty page at every path, on two names of this machine and on one that resolves to it. */
export class OtherSite {
  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  static async start(): Promise<OtherSite> {
    const server = createServer((request, response) => {
      const to = new URL(request.url ?? '/', 'http://localhost').searchParams.get('to');
      const script = to ? `<script>onload = () => setTimeout(() => location.assign(${JSON.stringify(to)}))</script>` : '';
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!DOCTYPE html><title>Another site</title><body>${script}</body>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new OtherSite(server, (server.address() as AddressInfo).port);
  }

  at(host: string): string {
    return `http://${host}:${this.port}/`;
  }

  /** A page whose script navigates elsewhere. (Code that a test evaluates counts as a user activation.) */
  navigatingTo(url: string): string {
    return `${this.at('localhost')}?to=${encodeURIComponent(url)}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const functionsFolder = `${root}crates/ui/src/api`;

/** The paths of all server functions, read from the source. */
export function functions(): string[] {
  const sources = readdirSync(functionsFolder).map((name) => readFileSync(`${functionsFolder}/${name}`, 'utf8'));
  return sources.flatMap((source) => [...source.matchAll(/^ {4}(?:Json|GetUrl) "(\w+)"/gm)].map(([, name]) => `/rpc/${name}`));
}

/** The paths of the public API. */
export function contract(): string[] {
  return Object.keys(JSON.parse(readFileSync(`${root}docs/openapi.json`, 'utf8')).paths);
}

/** Requests of another site's page: URLs of Parlor, those requested in every way, and a body as sent by Parlor's page. */
export type Attempt = { urls: string[]; thorough: string[]; body: string };

/**
 * All ways in which a page can make its browser send a request. Returns everything it could read; expected: nothing.
 *
 * The headers of a request depend on the way it is made, not on its URL.
 */
export async function attack({ urls, thorough, body }: Attempt): Promise<string[]> {
  const read: string[] = [];
  // Some elements fire no event when loading fails.
  const patience = 3000;
  const settled = (url: string, what: string, element: HTMLElement & { src?: string; data?: string; href?: string }, field: 'src' | 'data' | 'href') =>
    new Promise<void>((resolve) => {
      const over = () => resolve();
      element.addEventListener('error', over);
      element.addEventListener('load', () => {
        // Frames and similar elements also load an error page; a loaded image has leaked something.
        if (what === 'img') read.push(`${what} ${url}`);
        resolve();
      });
      setTimeout(over, patience);
      element[field] = url;
      document.body.append(element);
    });
  const make = <K extends keyof HTMLElementTagNameMap>(name: K, more: Record<string, string> = {}) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(more)) element.setAttribute(key, value);
    return element;
  };
  const asked = async (url: string, what: string, init: RequestInit) => {
    try {
      const response = await fetch(url, { credentials: 'include', signal: AbortSignal.timeout(patience), ...init });
      if (response.type !== 'opaque' && response.type !== 'opaqueredirect') read.push(`${what} ${url}: ${response.status}`);
    } catch {
      // Expected.
    }
  };
  const socket = (url: string) =>
    new Promise<void>((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws'));
      socket.onopen = () => (read.push(`WebSocket ${url}`), resolve());
      socket.onerror = () => resolve();
    });
  const source = (url: string) =>
    new Promise<void>((resolve) => {
      const events = new EventSource(url, { withCredentials: true });
      events.onopen = () => read.push(`EventSource ${url}`);
      events.onerror = () => (events.close(), resolve());
      setTimeout(() => (events.close(), resolve()), patience);
    });
  const form = (url: string, method: string, enctype: string, body: string) =>
    new Promise<void>((resolve) => {
      const name = `frame-${Math.random()}`;
      const frame = make('iframe', { name });
      const form = make('form', { action: url, method, enctype, target: name });
      // With text/plain this is the JSON itself.
      form.append(make('input', { name: body.slice(0, -1) + ',"x":"', value: '"}' }));
      document.body.append(frame, form);
      frame.addEventListener('load', () => resolve());
      setTimeout(resolve, patience);
      form.submit();
    });
  const plain = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];
  const briefly = async (url: string) => {
    await Promise.all([
      asked(url, 'no-cors', { mode: 'no-cors' }),
      asked(url, 'cors', { mode: 'cors' }),
      settled(url, 'img', make('img'), 'src'),
      asked(url, `POST ${plain[0]}`, { mode: 'no-cors', method: 'POST', body, headers: { 'content-type': plain[0]! } }),
      asked(url, 'POST of JSON', { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
    ]);
    navigator.sendBeacon(url, body);
  };
  const thoroughly = async (url: string) => {
    await Promise.all([
      asked(url, 'HEAD', { mode: 'no-cors', method: 'HEAD' }),
      asked(url, 'keepalive', { mode: 'no-cors', keepalive: true }),
      source(url),
      settled(url, 'script', make('script'), 'src'),
      settled(url, 'stylesheet', make('link', { rel: 'stylesheet' }), 'href'),
      settled(url, 'prefetch', make('link', { rel: 'prefetch' }), 'href'),
      settled(url, 'preload', make('link', { rel: 'preload', as: 'image' }), 'href'),
      settled(url, 'modulepreload', make('link', { rel: 'modulepreload' }), 'href'),
      settled(url, 'iframe', make('iframe'), 'src'),
      settled(url, 'embed', make('embed'), 'src'),
      settled(url, 'object', make('object'), 'data'),
      settled(url, 'audio', make('audio', { preload: 'auto', crossorigin: '' }), 'src'),
      form(url, 'get', plain[0]!, '{}'),
      ...plain.slice(1).map((kind) => asked(url, `POST ${kind}`, { mode: 'no-cors', method: 'POST', body, headers: { 'content-type': kind } })),
      ...plain.map((kind) => form(url, 'post', kind, body)),
      asked(url, 'POST of bytes', { mode: 'no-cors', method: 'POST', body: new Blob([body]) }),
      ...['PUT', 'PATCH', 'DELETE'].map((method) => asked(url, method, { method, body })),
    ]);
    navigator.sendBeacon(url, new Blob([body], { type: 'application/json' }));
  };
  // A few at a time: a browser has few connections to a host.
  const inLines = async (urls: string[], each: (url: string) => Promise<void>) => {
    const queue = [...urls];
    const line = async () => {
      for (let url = queue.shift(); url; url = queue.shift()) await each(url);
    };
    await Promise.all(Array.from({ length: 4 }, line));
  };
  await inLines(urls, briefly);
  await inLines(thorough, thoroughly);
  // Browsers open them one after the other, with a delay after each refusal.
  await Promise.all(thorough.slice(0, 2).map(socket));
  document.body.replaceChildren();
  return read;
}
