// Starts the page. If that fails, the server-rendered page is used without scripts, with a notice.
const state = document.documentElement.dataset;
const load = () => import(js).then((module) => module.default({ module_or_path: wasm }).then(() => module.hydrate));

// Stores the unsent text in the same place as the page itself.
const keep = () => {
  const text = document.getElementById('message')?.value;
  const place = /^\/c\/([^/]+)/.exec(location.pathname)?.[1] ?? 'new';
  try {
    if (text) localStorage['parlor-draft:' + place] = text;
  } catch {}
};

// A fault stops all of the page's code. During the start, half of the page may be hydrated by code that has stopped, so
// the page is loaded again without that code.
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
// WASM traps, and stack overflows: a RangeError in Chromium and Safari, an InternalError in Firefox.
const isFault = (error) => error instanceof WebAssembly.RuntimeError || /call stack|too much recursion/.test(error?.message);
addEventListener('error', ({ error }) => isFault(error) && failed());
addEventListener('unhandledrejection', ({ reason }) => isFault(reason) && failed());

// A button that was pressed before its code was there is pressed again then, unless something else was done since. Enter in the
// message box sends, as it does later.
let pressed;
const remember = (event) => {
  const { key, target, type } = event;
  pressed = type === 'click' ? target.closest('button[type="button"]') : null;
  if (key === 'Enter' && target.id === 'message' && !event.shiftKey && !event.isComposing && event.keyCode !== 229 && !matchMedia('(pointer: coarse)').matches) {
    event.preventDefault();
    if (target.value.trim()) target.form.requestSubmit();
  }
};
const kinds = ['click', 'keydown', 'pointerdown'];
for (const kind of kinds) addEventListener(kind, remember, true);
new MutationObserver((_, observer) => {
  observer.disconnect();
  for (const kind of kinds) removeEventListener(kind, remember, true);
  const opened = pressed?.popoverTargetElement;
  // The items of a menu are made when it is opened; without them it is closed.
  if (opened?.matches(':popover-open:empty')) opened.hidePopover();
  if (state.state === 'started' && pressed && !opened?.matches(':popover-open')) pressed.click();
}).observe(document.documentElement, { attributeFilter: ['data-state'] });

load().then(
  (hydrate) => {
    try {
      hydrate();
    } catch (error) {
      // Whatever the error is, half of the page may be hydrated.
      failed();
      throw error;
    }
  },
  (error) => {
    // Without its code the page stays as the server rendered it, without event handlers.
    console.error(error);
    state.state = 'plain';
  },
);
