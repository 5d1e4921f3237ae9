import { chart, escapeText } from './svg.ts';

/** Page-fault handling times: per bucket (bounds in ns, ascending, then inf) the counts at each sample time. */
export interface FaultHistogram {
  bounds: number[];
  /** Seconds of each sample. */
  times: number[];
  /** counts[sample][bucket], cumulative. */
  counts: number[][];
}

/** The text form of the memcg histogram patch of 2011: `< %-15s%lu`, not cumulative over buckets. */
export function faultHistogramText(histogram: FaultHistogram): string {
  const last = histogram.counts.at(-1) ?? histogram.bounds.map(() => 0).concat(0);
  const names = [...histogram.bounds.map(String), 'inf'];
  return `pgfault latency histogram (ns):\n${names.map((name, b) => `< ${name.padEnd(15)}${last[b] ?? 0}\n`).join('')}`;
}

/**
 * The same counts under other bounds. Exact where a new bound is an old one; between old bounds there is nothing to tell
 * how a bucket is spread: throws RangeError naming the bounds that could be asked for.
 */
export function recut(histogram: FaultHistogram, bounds: number[]): FaultHistogram {
  const unknown = bounds.filter((bound) => !histogram.bounds.includes(bound));
  if (unknown.length > 0)
    throw new RangeError(
      `bounds ${unknown.join(', ')} cut through a bucket; possible are ${histogram.bounds.join(', ')}`,
    );
  const target = histogram.bounds
    .map((bound) => bounds.findIndex((b) => bound <= b))
    .map((b) => (b < 0 ? bounds.length : b));
  target.push(bounds.length);
  return {
    bounds,
    times: histogram.times,
    counts: histogram.counts.map((row) => {
      const cut = Array<number>(bounds.length + 1).fill(0);
      row.forEach((count, b) => {
        cut[target[b]!]! += count;
      });
      return cut;
    }),
  };
}

/** Bars per bucket, on a square-root scale so that the rare slow faults are seen beside millions of fast ones. */
export function faultBars(histogram: FaultHistogram, title: string): string {
  const last = histogram.counts.at(-1) ?? [];
  const top = Math.sqrt(Math.max(1, ...last));
  return chart({ title, xLabel: 'bucket', yLabel: '√ faults', xMax: last.length, yMax: top }, (place) =>
    last
      .map((count, b) => {
        const [x0, base] = place(b + 0.1, 0);
        const [x1, y] = place(b + 0.9, Math.sqrt(count));
        const name = histogram.bounds[b] === undefined ? '≥ the last bound' : `< ${histogram.bounds[b]} ns`;
        return `<path class="c" d="M${x0} ${base}V${y}H${x1}V${base}Z"><title>${name}: ${count}</title></path>`;
      })
      .join(''),
  );
}

/** Heat map: a column per interval between samples, a row per bucket, darker = more faults (log scale). */
export function faultHeatMap(histogram: FaultHistogram, title: string): string {
  const grown = histogram.counts
    .slice(1)
    .map((row, i) => row.map((count, b) => Math.max(0, count - histogram.counts[i]![b]!)));
  const most = Math.log1p(Math.max(1, ...grown.flat()));
  const start = histogram.times[0] ?? 0;
  const buckets = histogram.bounds.length + 1;
  return chart(
    { title, xLabel: 's', yLabel: 'bucket', xMax: (histogram.times.at(-1) ?? start) - start, yMax: buckets },
    (place) =>
      grown
        .flatMap((row, i) =>
          row.map((count, b) => {
            if (count === 0) return '';
            const [x0, y0] = place(histogram.times[i]! - start, b);
            const [x1, y1] = place(histogram.times[i + 1]! - start, b + 1);
            const name = histogram.bounds[b] === undefined ? 'inf' : `< ${histogram.bounds[b]} ns`;
            const shade = Math.round((100 * Math.log1p(count)) / most) / 100;
            return `<path class="c" opacity="${shade}" d="M${x0} ${y0}H${x1}V${y1}H${x0}Z"><title>${escapeText(name)}: ${count}</title></path>`;
          }),
        )
        .join(''),
  );
}
