// Stores the draft of the page without scripts under the key that the page itself uses.
const message = document.getElementById('message');
const key = 'parlor-draft:' + (/^\/c\/([^/]+)/.exec(location.pathname)?.[1] ?? 'new');
try {
  message.value ||= localStorage[key] ?? '';
  message.addEventListener('input', () => {
    localStorage[key] = message.value;
  });
  message.form.addEventListener('submit', ({ submitter }) => {
    // *Stop* sends no message.
    if (!submitter?.value) delete localStorage[key];
  });
} catch {}
