// Starts the page. If that fails, what the server rendered becomes the page without scripts, and says so.
const state = document.documentElement.dataset;
const load = () => import(js).then((module) => module.default({ module_or_path: wasm }).then(() => module.hydrate));

// What was being written, as the page itself keeps it.
const keep = () => {
  const text = document.getElementById('message')?.value;
  const place = /^\/c\/([^/]+)/.exec(location.pathname)?.[1] ?? 'new';
  try {
    if (text) localStorage['parlor-draft:' + place] = text;
  } catch {}
};

// A fault ends all of the page's code. In the middle of starting, half of the page may be taken over by code that is no more,
// so it is loaded again, without that code.
const failed = () => {
  if (state.state === 'started') {
    state.state = 'stopped';
  } else if (!state.state) {
    state.state = 'plain';
    keep();
    const plain = new URL(location.href);
    plain.searchParams.set('plain', '');
    location.replace(plain);
  }
};
// Traps, and a stack that is too deep: a RangeError in Chromium and Safari, an InternalError in Firefox.
const isFault = (error) => error instanceof WebAssembly.RuntimeError || /call stack|too much recursion/.test(error?.message);
addEventListener('error', ({ error }) => isFault(error) && failed());
addEventListener('unhandledrejection', ({ reason }) => isFault(reason) && failed());
load().then(
  (hydrate) => {
    try {
      hydrate();
    } catch (error) {
      // Whatever it is, half of the page may be taken over.
      failed();
      throw error;
    }
  },
  (error) => {
    // Without its code the page is as the server rendered it, and nothing listens to it.
    console.error(error);
    state.state = 'plain';
  },
);
