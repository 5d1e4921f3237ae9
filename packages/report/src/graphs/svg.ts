/** A drawing area with both axes, in SVG user units; colours come from the page's CSS variables, with print-safe defaults. */
export interface Frame {
  title: string;
  xLabel: string;
  yLabel: string;
  xMax: number;
  yMax: number;
  /** A logarithmic y axis from here (more than 0) to yMax; what is less stands at its foot. */
  yFloor?: number;
}

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 12;
const TOP = 26;
const BOTTOM = 38;
export const PLOT_COLUMNS = WIDTH - LEFT - RIGHT;

export type Place = (x: number, y: number) => [number, number];

/** An SVG document of `frame` with what `draw` returns inside it. `draw` gets the mapping from data to user units. */
export function chart(frame: Frame, draw: (place: Place) => string): string {
  const xMax = frame.xMax > 0 ? frame.xMax : 1;
  const yMax = frame.yMax > 0 ? frame.yMax : 1;
  const floor = frame.yFloor;
  const share = (y: number) =>
    floor === undefined
      ? y / yMax
      : Math.log(Math.max(y, floor) / floor) / Math.log(Math.max(yMax, 10 * floor) / floor);
  const place: Place = (x, y) => [
    round(LEFT + (x / xMax) * PLOT_COLUMNS),
    round(HEIGHT - BOTTOM - share(Math.min(y, yMax)) * (HEIGHT - TOP - BOTTOM)),
  ];
  const grid = (floor === undefined ? ticks(yMax) : decades(floor, yMax)).map((value) => {
    const [, y] = place(0, value);
    return `<path class="grid" d="M${LEFT} ${y}H${WIDTH - RIGHT}"/><text class="y" x="${LEFT - 6}" y="${y + 4}">${label(value)}</text>`;
  });
  const marks = ticks(xMax).map((value) => {
    const [x] = place(value, 0);
    return `<text class="x" x="${x}" y="${HEIGHT - BOTTOM + 15}">${label(value)}</text>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeText(frame.title)}">` +
    `<style>text{font:11px ui-monospace,monospace;fill:var(--ink,#333)}.t{font-weight:600;font-size:12px}.y{text-anchor:end}.x{text-anchor:middle}` +
    `.grid{stroke:var(--line,#ddd);fill:none}.a{fill:none;stroke:var(--a,#1f6feb);stroke-width:1}.b{fill:var(--b,#2da44e)}.c{fill:var(--a,#1f6feb)}` +
    `.d{fill:none;stroke:var(--c,#bf5700);stroke-width:1.4}.e{fill:none;stroke:var(--b,#2da44e);stroke-width:1.4}.f{fill:none;stroke:var(--d,#8250df);stroke-width:1.4}</style>` +
    `<text class="t" x="${LEFT}" y="15">${escapeText(frame.title)}</text>${grid.join('')}${marks.join('')}` +
    `<text class="x" x="${LEFT + PLOT_COLUMNS / 2}" y="${HEIGHT - 6}">${escapeText(frame.xLabel)}</text>` +
    `<text class="x" transform="rotate(-90 12 ${HEIGHT / 2})" x="12" y="${HEIGHT / 2}">${escapeText(frame.yLabel)}</text>${draw(place)}</svg>`
  );
}

/**
 * A chart for a page whose content security policy allows no style in a document: without its own, of class `plot`, for which
 * the page's style sheet has the same rules.
 */
export function inPage(svg: string): string {
  return svg.replace(/<style>.*?<\/style>/s, '').replace('<svg ', '<svg class="plot" ');
}

/** Round numbers from 0 to `max`, four to seven of them. */
export function ticks(max: number): number[] {
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough)!;
  const values: number[] = [];
  for (let i = 0; i * step <= max * 1.0001; i++) values.push(i * step);
  return values;
}

/** `floor` times 1, 10, 100 … up to `max`. */
function decades(floor: number, max: number): number[] {
  const values: number[] = [];
  for (let value = floor; value <= max; value *= 10) values.push(value);
  return values;
}

export function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
}

function label(value: number): string {
  if (value >= 1e6) return `${trim(value / 1e6)}M`;
  if (value >= 1e4) return `${trim(value / 1e3)}k`;
  return trim(value);
}

const trim = (value: number) => String(Number(value.toPrecision(3)));
const round = (value: number) => Math.round(value * 10) / 10;
