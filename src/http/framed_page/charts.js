// The page of a frame that draws one chart. Parlor's page sends Plotly's script and the chart's JSON, and gets its title and a
// picture of it.
(() => {
  const { nonce } = document.currentScript;
  document.currentScript.remove();
  /** The size of the picture: of a chart that names none, and the limit of the others. */
  const PICTURE = { width: 800, height: 450, most: 1600, scale: 2 };
  const MAX_HEIGHT = 4000;
  const MAX_TITLE_LENGTH = 200;
  /** What Plotly says if it can't load a map. */
  const NEEDS_MAP = /fetching topojson|^Map error/;
  /** Plotly's own leaves little room on a phone. */
  const MARGIN = { t: 64, r: 24, b: 48, l: 48 };
  const CONFIG = {
    responsive: true,
    displaylogo: false,
    showLink: false,
    showSendToCloud: false,
    plotlyServerURL: '',
    // The frame can save no files.
    modeBarButtonsToRemove: ['toImage'],
  };
  const style = document.createElement('style');
  style.textContent = 'html, body, div.holder { height: 100% } body { margin: 0; overflow: hidden auto }';
  document.head.append(style);
  const holder = document.createElement('div');
  holder.className = 'holder';
  document.body.append(holder);
  const reply = (message) => parent.postMessage(message, '*');

  let source;
  /** Plotly changes what it gets. */
  const chart = () => {
    const { data, layout, frames } = JSON.parse(source);
    return { data: data ?? [], layout: layout ?? {}, frames: frames ?? [] };
  };

  const start = (code) => {
    const script = document.createElement('script');
    script.nonce = nonce;
    script.text = code;
    document.head.append(script);
    script.remove();
  };

  /** A colour of the page as Plotly reads it, with an opacity. */
  const colour = (css, opacity = 1) => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
  };

  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const merge = (below, above) => {
    const merged = isObject(below) ? { ...below } : {};
    for (const [name, value] of Object.entries(above)) merged[name] = isObject(value) ? merge(merged[name], value) : value;
    return merged;
  };

  /** Sets what the chart does not set by itself. */
  const setBelow = (layout, values) => {
    const template = isObject(layout.template) ? layout.template : {};
    layout.template = { ...template, layout: merge(template.layout, values) };
  };

  /** The colours of a dark page, below those that the chart sets by itself. */
  const setDarkColours = (layout, { text, background }) => {
    const axis = { gridcolor: colour(text, 0.15), linecolor: colour(text, 0.3), zerolinecolor: colour(text, 0.3) };
    const scene = { ...axis, backgroundcolor: colour(background) };
    const dark = {
      paper_bgcolor: colour(background),
      plot_bgcolor: colour(background),
      font: { color: colour(text) },
      xaxis: axis,
      yaxis: axis,
      polar: { bgcolor: colour(background), angularaxis: axis, radialaxis: axis },
      ternary: { bgcolor: colour(background), aaxis: axis, baxis: axis, caxis: axis },
      scene: { xaxis: scene, yaxis: scene, zaxis: scene },
      geo: { bgcolor: colour(background) },
    };
    setBelow(layout, dark);
  };

  const side = (value, missing) => (value > 0 ? Math.min(value, PICTURE.most) : missing);

  const draw = async (theme) => {
    const { data, layout, frames } = chart();
    const height = layout.height > innerHeight ? `${Math.min(layout.height, MAX_HEIGHT)}px` : '100%';
    holder.style.height = height;
    delete layout.width;
    delete layout.height;
    layout.autosize = true;
    setBelow(layout, { margin: MARGIN });
    if (theme.isDark) setDarkColours(layout, theme);
    document.body.style.background = colour(theme.isDark ? theme.background : '#fff');
    await Plotly.react(holder, { data, layout, frames, config: CONFIG });
  };

  const title = () => {
    const { title } = chart().layout;
    const text = title?.text ?? title;
    return typeof text === 'string' ? text.replace(/<[^>]*>/g, '').slice(0, MAX_TITLE_LENGTH) : '';
  };

  const makePicture = async () => {
    const { data, layout } = chart();
    const [width, height] = [side(layout.width, PICTURE.width), side(layout.height, PICTURE.height)];
    const url = await Plotly.toImage({ data, layout }, { format: 'png', width, height, scale: PICTURE.scale });
    return Uint8Array.from(atob(url.split(',')[1]), (character) => character.charCodeAt(0));
  };

  const receive = async (message) => {
    try {
      if (message.script) {
        start(message.script);
        source = message.chart;
      }
      await draw(message);
      reply({ title: title() });
    } catch (error) {
      const text = String(error?.message ?? error);
      return reply({ failure: NEEDS_MAP.test(text) ? 'it needs a map from the network' : text });
    }
    if (message.wantsPicture) {
      const picture = await makePicture().catch(() => null);
      if (picture) reply({ picture });
    }
  };

  // No link of a chart leads anywhere.
  for (const name of ['click', 'auxclick']) {
    const refuse = (event) => event.target.closest?.('a') && event.preventDefault();
    addEventListener(name, refuse, true);
  }
  // One at a time.
  let last = Promise.resolve();
  addEventListener('message', ({ data, source: sender }) => {
    if (sender === parent) last = last.then(() => receive(data));
  });
  reply({ isReady: true });
})();
