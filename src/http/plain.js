// Stores text that is written on the page without scripts in the same place as the page itself.
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
