import { createSocket, type Socket } from 'node:dgram';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { expect, type BrowserContext } from '@playwright/test';

/** The path that the fence requests; see `before`. */
const FENCE = '/fence';

/** Another server, which nothing may reach. */
export class OtherServer {
  /** The first line of what was sent over each connection; empty if nothing was. */
  readonly #connections: string[] = [];
  #datagrams = 0;

  private constructor(readonly server: Server, readonly socket: Socket) {
    server.on('connection', (connection) => {
      const index = this.#connections.push('') - 1;
      connection.on('error', () => {});
      connection.once('data', (data) => {
        this.#connections[index] = data.toString().split('\r\n')[0]!;
        if (this.#connections[index]!.includes(FENCE)) {
          connection.end('HTTP/1.1 204 No Content\r\nconnection: close\r\naccess-control-allow-origin: *\r\n\r\n');
        }
      });
    });
    socket.on('message', () => this.#datagrams++);
  }

  static async start(): Promise<OtherServer> {
    const other = new OtherServer(createServer(), createSocket('udp4'));
    await new Promise<void>((resolve) => other.server.listen(0, '127.0.0.1', resolve));
    const { port } = other.server.address() as AddressInfo;
    await new Promise<void>((resolve) => other.socket.bind(port, '127.0.0.1', resolve));
    return other;
  }

  /**
   * What has reached it since the last call. An ordinary page of the same browser connects as a fence: what was sent earlier has arrived by then,
   * and that it arrives shows that the test would have seen it.
   */
  async before(context: BrowserContext): Promise<{ connections: number; received: string[]; datagrams: number }> {
    const page = await context.newPage();
    await page.evaluate((address) => fetch(address), this.url + FENCE);
    await page.close();
    const fence = this.#connections.findIndex((line) => line.includes(FENCE));
    const earlier = this.#connections.splice(0, fence + 1).slice(0, -1);
    return { connections: earlier.length, received: earlier.filter((line) => line !== ''), datagrams: this.#datagrams };
  }

  /** Checks that it would have seen what WebRTC sends: an ordinary page of the same browser sends it. */
  async expectToSeeDatagrams(context: BrowserContext): Promise<void> {
    const page = await context.newPage();
    await page.evaluate((code) => new Function(code)(), STUN(this.host));
    await expect.poll(() => this.#datagrams).toBeGreaterThan(0);
    await page.close();
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  close(): void {
    this.server.close();
    this.socket.close();
  }
}

/** Every way to reach another server that a page has by itself. */
export const ATTACKS = (site: string) => `<!DOCTYPE html><html><head>
<meta http-equiv="refresh" content="0;url=${site}/refresh">
<base href="${site}/base/">
<link rel="stylesheet" href="${site}/style"><link rel="prefetch" href="${site}/prefetch"><link rel="preconnect" href="${site}">
<LINK rel=dns-prefetch href="${site}"><link rel="modulepreload" href="${site}/module"><link rel="manifest" href="${site}/manifest"><link rel="icon" href="${site}/icon">
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${site}/speculation"]}]}</script>
<style>@import "${site}/import"; @font-face { font-family: f; src: url(${site}/font) } body { font-family: f; background: url(${site}/background) }</style>
</head><body>Words
<img src="${site}/img"><img srcset="${site}/srcset 1x"><video src="${site}/video" poster="${site}/poster"></video><audio src="${site}/audio" autoplay></audio>
<iframe src="${site}/iframe"></iframe><object data="${site}/object"></object><embed src="${site}/embed"><svg><image href="${site}/svg"/><use href="${site}/use#a"/></svg>
<a id="link" href="${site}/link" ping="${site}/ping">link</a> <a id="top" href="${site}/top" target="_top">top</a> <a id="blank" href="${site}/blank" target="_blank">blank</a>
<form id="form" action="${site}/form"><button id="submit">send</button></form>
<input type="image" src="${site}/input" formaction="${site}/formaction">
<script>
const attempts = [
  () => fetch('${site}/fetch'), () => navigator.sendBeacon('${site}/beacon'), () => new WebSocket('${site.replace('http', 'ws')}/socket'),
  () => new EventSource('${site}/events'), () => new Image().src = '${site}/image', () => new Worker('${site}/worker'),
  () => import('${site}/import'), () => open('${site}/open'), () => { top.location = '${site}/toplocation' }, () => { parent.location.href = '${site}/parent' },
  () => document.getElementById('link').click(), () => document.getElementById('blank').click(), () => document.getElementById('top').click(),
  () => document.getElementById('form').submit(), () => parent.postMessage({ type: 'parlor', text: 'hello' }, '*'),
  () => parent.document.title = 'owned', () => localStorage.setItem('a', 'b'), () => document.cookie = 'a=b', () => navigator.serviceWorker.register('${site}/sw'),
  () => { const xhr = new XMLHttpRequest(); xhr.open('GET', '${site}/xhr'); xhr.send(); },
  () => new RTCPeerConnection({ iceServers: [{ urls: '${site.replace('http://', 'stun:')}' }] }).createDataChannel('a'),
  () => { const frame = document.createElement('iframe'); frame.srcdoc = '<img src="${site}/srcdoc">'; document.body.append(frame); },
  () => { alert(1) }, () => { location = 'javascript:fetch("${site}/javascript")' },
];
for (const attempt of attempts) try { Promise.resolve(attempt()).catch(() => {}) } catch {}
setTimeout(() => location.replace('${site}/replace'));
</script></body></html>`;

const STUN = (host: string) =>
  `const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${host}' }] }); p.createDataChannel('a'); p.createOffer().then((o) => p.setLocalDescription(o));`;

/**
 * Attempts that need scripts, other than navigations. `#out` says when all were made. Those that open a connection ahead of time, or use WebRTC, no
 * policy forbids: the guard of the frame does. They use no name that the server could rename in the page.
 */
export const SCRIPTED_ATTACKS = (host: string) => `<!DOCTYPE html><p>Words</p><p id="out"></p><div id="here"></div><script>
const site = 'http://${host}', li = 'li' + 'nk', fr = 'ifr' + 'ame', here = document.getElementById('here');
const connect = (element) => { element.rel = 'preconnect'; element.href = site; document.head.append(element); };
const stun = ${JSON.stringify(STUN(host))}, script = '<scr' + 'ipt>' + stun + '</scr' + 'ipt>';
const attempts = {
  fetch: () => fetch(site), xhr: () => { const xhr = new XMLHttpRequest(); xhr.open('GET', site); xhr.send(); },
  socket: () => new WebSocket('ws://${host}'), events: () => new EventSource(site), beacon: () => navigator.sendBeacon(site, 'a'),
  image: () => { new Image().src = site; }, script: () => { const s = document.createElement('script'); s.src = site; document.head.append(s); },
  import: () => import(site + '/module'), worker: () => new Worker(URL.createObjectURL(new Blob(['fetch("' + site + '")']))),
  eval: () => eval('fetch(site)'), open: () => { if (open(site)) throw 'opened'; }, top: () => { top.location = site; }, parent: () => { parent.location.href = site; },
  form: () => { const f = document.createElement('form'); f.action = site; document.body.append(f); f.submit(); },
  rules: () => { const s = document.createElement('script'); s.type = 'speculationrules'; s.text = '{"prefetch":[{"source":"list","urls":["' + site + '"]}]}'; document.head.append(s); },
  rtc: () => new Function(stun)(), rtcDirect: () => { ${STUN(host)} },
  rtcFrame: () => { const f = document.createElement(fr); f.srcdoc = script; here.append(f); },
  rtcFrameNS: () => { const f = document.createElementNS('http://www.w3.org/1999/xhtml', 'x:' + fr); f.srcdoc = script; here.append(f); },
  rtcMarkup: () => { here.innerHTML = '<' + fr + ' srcdoc="' + script.replaceAll('"', '&quot;') + '"></' + fr + '>'; },
  rtcBlank: () => { here.insertAdjacentHTML('beforeend', '<' + fr + '></' + fr + '>'); new here.lastChild.contentWindow.RTCPeerConnection(); },
  rtcAddress: () => { location = 'javascript:' + JSON.stringify(script); },
  link: () => connect(document.createElement(li)),
  linkMarkup: () => document.head.insertAdjacentHTML('beforeend', '<' + li + ' rel=preconnect href=' + site + '>'),
  linkParsed: () => document.head.append(new DOMParser().parseFromString('<a:' + li + ' xmlns:a="http://www.w3.org/1999/xhtml" rel="preconnect" href="' + site + '"/>', 'application/xml').documentElement),
  linkUnsafe: () => here.setHTMLUnsafe('<' + li + ' rel=preconnect href=' + site + '>'),
  linkRange: () => document.head.append(document.createRange().createContextualFragment('<' + li + ' rel=preconnect href=' + site + '>')),
  linkOwn: () => { class L extends HTMLLinkElement {} customElements.define('x-l', L, { extends: li }); connect(new L()); },
  message: () => { for (const data of [{ mermaid: '/pkg/../api/models' }, { id: 1, svg: '<svg/>' }, { type: 'parlor' }]) parent.postMessage(data, '*'); },
  title: () => { parent.document.title = 'owned'; }, storage: () => localStorage.setItem('a', 'b'), cookie: () => { document.cookie = 'a=b'; },
  alert: () => alert(1), focus: () => parent.focus(),
  // The last one: it would change the others.
  linkPatched: () => { String.prototype.toLowerCase = () => 'p'; String.prototype.indexOf = () => -1; Reflect.apply = () => true; Function.prototype.call = () => {}; connect(document.createElement(li)); },
};
for (const attempt of Object.values(attempts)) try { Promise.resolve(attempt()).catch(() => {}); } catch {}
document.getElementById('out').textContent = Object.keys(attempts).length + ' attempts, ' + typeof RTCPeerConnection + ', origin ' + origin;
</script>`;

/** Navigations of the frame, each of which ends its page. */
export const NAVIGATIONS = (url: string) =>
  [
    `location = '${url}/location'`,
    `location.replace('${url}/replace')`,
    `document.head.insertAdjacentHTML('beforeend', '<meta http-equiv="refresh" content="0;url=${url}/refresh">')`,
    `{ const a = document.createElement('a'); a.href = '${url}/link'; document.body.append(a); a.click(); }`,
  ].map((code) => `<!DOCTYPE html><p>Words</p><script>${code}</script>`);
