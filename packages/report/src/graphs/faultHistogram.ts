import { chart, escapeText } from './svg.ts';

/** Page-fault handling times: per bucket (bounds in ns, ascending, then inf) the counts at each sample time. */
export interface FaultHistogram {
  bounds: number[];
  /** Seconds of each sample. */
  times: number[];
  /** counts[sample][bucket], cumulative. */
  counts: number[][];
}

/**
 * The histogram in a program's samples: `<prefix>latency_<600ns` … `latency_<infns`. Counters that grow over the run
 * (`cumulative`, as pgfault-latency's) are taken as they are; pft's, one histogram per iteration, are added up. Without
 * `times` samples are numbered. Null when there is none.
 */
export function faultHistogramOf(
  samples: Readonly<Record<string, number[]>>,
  options: { prefix: string; cumulative: boolean; times?: number[] },
): FaultHistogram | null {
  const names = Object.keys(samples).filter((name) => name.startsWith(`${options.prefix}latency_<`));
  const boundOf = (name: string) => Number(name.slice(options.prefix.length + 'latency_<'.length, -2));
  const bounds = names
    .map(boundOf)
    .filter((bound) => Number.isFinite(bound))
    .sort((a, b) => a - b);
  const columns = [...bounds.map(String), 'inf'].map((bound) => samples[`${options.prefix}latency_<${bound}ns`] ?? []);
  const length = Math.max(0, ...columns.map((column) => column.length));
  if (bounds.length === 0 || length === 0) return null;
  const counts = Array.from({ length }, (_, i) => columns.map((column) => column[i] ?? 0));
  if (!options.cumulative)
    for (let i = 1; i < length; i++) counts[i] = counts[i]!.map((count, b) => count + counts[i - 1]![b]!);
  const times = options.times?.length === length ? options.times : counts.map((_, i) => i);
  return { bounds, times, counts };
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
  if (bounds.length === 0 || bounds.some((bound, b) => b > 0 && bound <= bounds[b - 1]!))
    throw new RangeError(`bounds ${bounds.join(', ')} must ascend`);
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
