// Runs before every script of a page in a frame, and takes away what a policy does not cover: WebRTC, and connections that
// `link` opens ahead of time. A new frame would have all of it again, so none is made. Browsers that know
// `Connection-Allowlist` need none of this.
//
// The page can replace every function afterwards, so only those taken here are called, with `apply`.
(() => {
  'use strict';
  const { apply } = Reflect;
  const { indexOf, slice, toLowerCase } = String.prototype;
  const REFUSED = ['link', 'iframe', 'frame', 'fencedframe', 'object', 'embed'];
  const END_OF_NAME = '\t\n\f\r />';

  const isRefused = (name) => {
    const lower = apply(toLowerCase, name, []);
    for (let i = 0; i < REFUSED.length; i++) if (REFUSED[i] === lower) return true;
    return false;
  };
  const withoutPrefix = (name) => apply(slice, name, [apply(indexOf, name, [':']) + 1]);
  const allowedName = (name) => {
    name = `${name}`;
    return isRefused(withoutPrefix(name)) ? 'x-refused' : name;
  };
  /** Renames the elements in markup. */
  const allowedMarkup = (markup) => {
    let renamed = '';
    let copied = 0;
    for (let at = apply(indexOf, markup, ['<']); at >= 0; at = apply(indexOf, markup, ['<', at + 1])) {
      let end = at + 1;
      while (end < markup.length && end < at + 16 && apply(indexOf, END_OF_NAME, [markup[end]]) < 0) end++;
      if (isRefused(apply(slice, markup, [at + 1, end]))) {
        renamed += `${apply(slice, markup, [copied, at + 1])}x-`;
        copied = at + 1;
      }
    }
    return renamed + apply(slice, markup, [copied]);
  };

  const wrap = (owner, name, call) => {
    const real = owner?.[name];
    if (real) owner[name] = function (...values) {
      return call((args) => apply(real, this, args), values);
    };
  };
  const { Document, DOMParser, CustomElementRegistry } = window;
  wrap(Document.prototype, 'createElement', (real, [name, options]) => real([allowedName(name), options]));
  wrap(Document.prototype, 'createElementNS', (real, [space, name, options]) => real([space, allowedName(name), options]));
  // An element of the page's own may not extend one of them.
  wrap(CustomElementRegistry.prototype, 'define', (real, [name, element]) => real([name, element]));
  // Markup that is not HTML has other ways to write a name.
  wrap(DOMParser.prototype, 'parseFromString', (real, [markup]) => real([markup, 'text/html']));
  wrap(Document.prototype, 'execCommand', (real, [command, ui, value]) => {
    command = `${command}`;
    return apply(toLowerCase, command, []) !== 'inserthtml' && real([command, ui, value]);
  });
  delete window.DOMImplementation.prototype.createDocument;
  for (const owner of [Document, Element.prototype, ShadowRoot.prototype, Range.prototype])
    for (const name of Object.getOwnPropertyNames(owner))
      if (/^(set|parse|stream|append|prepend|before|after|replaceWith)(All)?HTML/.test(name)) delete owner[name];
  for (const name of Object.getOwnPropertyNames(window))
    if (/RTC|^WebTransport|^XSLTProcessor$|^Presentation/.test(name)) delete window[name];

  // All markup and all `javascript:` URLs pass these. The policy of the response demands it.
  window.trustedTypes?.createPolicy('default', {
    createHTML: (markup) => allowedMarkup(markup),
    createScript: (script, _type, sink) => (sink === 'Location href' ? null : script),
    createScriptURL: (url) => url,
  });
  document.currentScript.remove();
})();
