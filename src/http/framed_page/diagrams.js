// The page of the frame that draws diagrams. Parlor's page sends Mermaid's script, then sources, and gets each as an SVG.
(() => {
  const { nonce, dataset } = document.currentScript;
  document.currentScript.remove();
  const reply = (message) => parent.postMessage(message, '*');

  const start = (code) => {
    const script = document.createElement('script');
    script.nonce = nonce;
    script.text = code;
    document.head.append(script);
    script.remove();
  };

  const draw = async ({ id, source, isDark }) => {
    try {
      mermaid.initialize({
        startOnLoad: false,
        securityLevel: 'strict',
        look: 'classic',
        suppressErrorRendering: true,
        htmlLabels: false,
        flowchart: { htmlLabels: false },
        theme: isDark ? 'dark' : 'default',
        fontFamily: 'system-ui, sans-serif',
        // By default 11 px.
        gantt: { fontSize: 14, sectionFontSize: 14 },
      });
      const { svg } = await mermaid.render(`diagram-${id}`, source);
      const holder = document.createElement('div');
      holder.innerHTML = svg;
      const drawn = holder.querySelector('svg');
      // As an image it has the size of its view box.
      const [, , width, height] = (drawn.getAttribute('viewBox') ?? '').split(/[\s,]+/);
      if (height) {
        drawn.setAttribute('width', width);
        drawn.setAttribute('height', height);
      }
      reply({ id, svg: new XMLSerializer().serializeToString(drawn) });
    } catch (error) {
      reply({ id, failure: String(error?.message ?? error) });
    } finally {
      document.body.replaceChildren();
    }
  };

  // One at a time: Mermaid has one configuration.
  let last = Promise.resolve();
  addEventListener('message', ({ data, source }) => {
    if (source !== parent) return;
    last = last.then(() => ('script' in data ? start(data.script) : draw(data)));
  });
  reply({ mermaid: dataset.mermaid });
})();
