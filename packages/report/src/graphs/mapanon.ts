import { chart, escapeText, PLOT_COLUMNS } from './svg.ts';

/** One run's data files, as mapanon writes them. Index = reference or page. */
export interface MapanonRun {
  name: string;
  /** µs of each reference. */
  times: Float64Array;
  /** Page of each reference, when the reference file is known. */
  pages?: Uint32Array;
  refcount: Uint32Array;
  age: Uint32Array;
  present: Uint8Array;
  swapped: Uint8Array;
  /** vmstat by second: si, so (pages/s or kB/s), free, cache (kB). */
  vmstat?: { time: number; swpd: number; free: number; buff: number; cache: number }[];
}

/** In the order in which they are shown. */
export const GRAPH_NAMES = ['time', 'time-unscaled', 'presence-refcount', 'presence-age', 'pages', 'vmstat'] as const;
export type GraphName = (typeof GRAPH_NAMES)[number];

/** Axes shared by all runs of a comparison, so that the eye compares what the numbers do. */
export interface MapanonScale {
  references: number;
  pages: number;
  /** 99.9th percentile of all times: the scaled graph's top. */
  timeScaled: number;
  timeMax: number;
  refcountMax: number;
  ageMax: number;
  seconds: number;
  vmstatMax: number;
}

export function sharedScale(runs: MapanonRun[]): MapanonScale {
  const most = (pick: (run: MapanonRun) => number) => Math.max(1, ...runs.map(pick));
  return {
    references: most((run) => run.times.length),
    pages: most((run) => run.present.length),
    timeScaled: most((run) => quantile(run.times, 0.999)),
    timeMax: most((run) => largest(run.times)),
    refcountMax: most((run) => largest(run.refcount)),
    ageMax: most((run) => largest(run.age)),
    seconds: most((run) => run.vmstat?.at(-1)?.time ?? 0),
    vmstatMax: most((run) =>
      (run.vmstat ?? []).reduce((max, row) => Math.max(max, row.swpd, row.free, row.buff, row.cache), 0),
    ),
  };
}

/** VM Regress's graphs of one run, on the shared scale. `pages` and `vmstat` only where their data are there. */
export function mapanonGraphs(run: MapanonRun, scale: MapanonScale): Partial<Record<GraphName, string>> {
  const graphs: Partial<Record<GraphName, string>> = {
    time: times(run, scale, scale.timeScaled, `${run.name}: access time (top: 99.9th percentile of all runs)`),
    'time-unscaled': times(run, scale, scale.timeMax, `${run.name}: access time, unscaled`),
    'presence-refcount': presence(
      run,
      run.refcount,
      scale.refcountMax,
      scale,
      'references to the page',
      `${run.name}: presence over reference count`,
    ),
    'presence-age': presence(
      run,
      run.age,
      scale.ageMax,
      scale,
      'references since the last one',
      `${run.name}: presence over age`,
    ),
  };
  if (run.pages) graphs.pages = pageIndex(run, run.pages, scale);
  if (run.vmstat && run.vmstat.length > 1) graphs.vmstat = vmstat(run, run.vmstat, scale);
  return graphs;
}

/** A page that lays runs side by side, a graph a row. Self-contained; prints in black on white. */
export function mapanonPage(runs: MapanonRun[]): string {
  const scale = sharedScale(runs);
  const columns = runs.map((run) => mapanonGraphs(run, scale));
  const figures = runs
    .map((run) => {
      const present = sum(run.present);
      const swapped = sum(run.swapped);
      const mean = run.times.reduce((a, b) => a + b, 0) / Math.max(1, run.times.length);
      return (
        `<tr><th scope="row">${escapeText(run.name)}</th>` +
        [run.times.length, run.present.length, present, swapped].map((n) => `<td>${n}</td>`).join('') +
        [mean, quantile(run.times, 0.99), largest(run.times)].map((us) => `<td>${us.toFixed(2)}</td>`).join('') +
        '</tr>'
      );
    })
    .join('');
  const rows = GRAPH_NAMES.filter((name) => columns.some((graphs) => graphs[name]))
    .map(
      (name) =>
        `<section class="row">${columns.map((graphs) => `<figure>${graphs[name] ?? ''}</figure>`).join('')}</section>`,
    )
    .join('');
  return (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>mapanon: ${escapeText(runs.map((run) => run.name).join(' and '))}</title><style>` +
    ':root{--ink:#24292f;--line:#d8dee4;--paper:#fff;--a:#0969da;--b:#1a7f37;--c:#bc4c00;--d:#8250df}' +
    '@media(prefers-color-scheme:dark){:root{--ink:#d1d7de;--line:#30363d;--paper:#0d1117;--a:#58a6ff;--b:#3fb950;--c:#f0883e;--d:#bc8cff}}' +
    'body{margin:1rem;background:var(--paper);color:var(--ink);font:14px/1.4 system-ui,sans-serif}' +
    `.row{display:grid;grid-template-columns:repeat(${runs.length},minmax(0,1fr));gap:1rem}figure{margin:.5rem 0}svg{width:100%;height:auto}` +
    'table{border-collapse:collapse;font:13px ui-monospace,monospace}th,td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid var(--line)}' +
    'th:first-child{text-align:left}@media(max-width:700px){.row{grid-template-columns:1fr}}</style>' +
    `<h1>mapanon</h1><table><tr><th></th><th>references</th><th>pages</th><th>present</th><th>swapped</th><th>avg µs</th><th>p99 µs</th><th>max µs</th></tr>${figures}</table>` +
    `<p>All graphs of a row share their scales.</p>${rows}</html>`
  );
}

/** A vertical bar per column from its fastest to its slowest access, so that no spike is lost. */
function times(run: MapanonRun, scale: MapanonScale, yMax: number, title: string): string {
  return chart({ title, xLabel: 'reference', yLabel: 'µs', xMax: scale.references, yMax }, (place) => {
    let path = '';
    for (const [from, to] of columns(run.times.length)) {
      let low = Number.POSITIVE_INFINITY;
      let high = 0;
      for (let i = from; i < to; i++) {
        low = Math.min(low, run.times[i]!);
        high = Math.max(high, run.times[i]!);
      }
      const [x, y1] = place(from, low);
      const [, y2] = place(from, high);
      path += `M${x} ${y1}V${y1 === y2 ? y2 - 0.5 : y2}`;
    }
    return `<path class="a" d="${path}"/>`;
  });
}

/** Pages by score: a line of the score per page, and below it (to half of the height) where pages are present. */
function presence(
  run: MapanonRun,
  score: Uint32Array,
  yMax: number,
  scale: MapanonScale,
  yLabel: string,
  title: string,
): string {
  return chart({ title, xLabel: 'page', yLabel, xMax: scale.pages, yMax }, (place) => {
    let bars = '';
    let line = '';
    const n = run.present.length;
    for (const [from, to] of columns(n)) {
      let present = 0;
      let total = 0;
      for (let i = from; i < to; i++) {
        present += run.present[i]!;
        total += score[i]!;
      }
      const share = present / (to - from);
      const [x0, base] = place(from, 0);
      const [x1, top] = place(to, (yMax / 2) * share);
      if (share > 0) bars += `M${x0} ${base}V${top}H${x1}V${base}Z`;
      const [x, y] = place(from, total / (to - from));
      line += `${line === '' ? 'M' : 'L'}${x} ${y}`;
    }
    return `<path class="b" d="${bars}" opacity=".45"/><path class="a" d="${line}"/>`;
  });
}

function pageIndex(run: MapanonRun, pages: Uint32Array, scale: MapanonScale): string {
  return chart(
    {
      title: `${run.name}: page over time`,
      xLabel: 'reference',
      yLabel: 'page',
      xMax: scale.references,
      yMax: scale.pages,
    },
    (place) => {
      // A dot per reference up to this many, evenly taken beyond: a prime, so that no pattern of the references is taken alone.
      const shown = Math.min(pages.length, 2999);
      let path = '';
      for (let n = 0; n < shown; n++) {
        const i = Math.floor((n * pages.length) / shown);
        const [x, y] = place(i, pages[i]!);
        path += `M${Math.round(x)} ${Math.round(y)}h1`;
      }
      return `<path class="a" d="${path}"/>`;
    },
  );
}

function vmstat(run: MapanonRun, rows: NonNullable<MapanonRun['vmstat']>, scale: MapanonScale): string {
  const title = `${run.name}: vmstat (kB): swpd orange, free green, cache violet, buff blue`;
  // What is swapped is a hundredth of what is free: on a linear axis it would lie on the foot.
  const frame = { title, xLabel: 's', yLabel: 'kB', xMax: scale.seconds, yMax: scale.vmstatMax, yFloor: 100 };
  return chart(frame, (place) =>
    (
      [
        ['d', 'swpd'],
        ['e', 'free'],
        ['f', 'cache'],
        ['a', 'buff'],
      ] as const
    )
      .map(
        ([style, key]) =>
          `<path class="${style}" d="M${rows.map((row) => place(row.time, row[key]).join(' ')).join('L')}"/>`,
      )
      .join(''),
  );
}

function* columns(n: number): Generator<[number, number]> {
  const width = Math.max(1, n / PLOT_COLUMNS);
  for (let at = 0; at < n; at += width) {
    const from = Math.floor(at);
    const to = Math.min(n, Math.max(from + 1, Math.floor(at + width)));
    if (from < n) yield [from, to];
  }
}

function quantile(values: Float64Array, q: number): number {
  if (values.length === 0) return 0;
  return values.slice().sort()[Math.min(values.length - 1, Math.ceil(q * values.length) - 1)]!;
}

function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]!);
  return most;
}

const sum = (values: Uint8Array) => values.reduce((a, b) => a + b, 0);
