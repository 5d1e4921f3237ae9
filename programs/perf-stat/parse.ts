import { fields, type ParseContext, readNumber, type Samples, Sink } from '@kdelta/programs/parsing';

type Counts = Map<string, number>;

/** name → dividend, divisor (summed events), factor. */
const ratios: [string, string, string[], number][] = [
  ['ipc', 'instructions', ['cpu-cycles'], 1],
  ['cpi', 'cpu-cycles', ['instructions'], 1],
  ['cache-miss-rate%', 'cache-misses', ['cache-references'], 100],
  ['cycles-between-cache-misses', 'cpu-cycles', ['cache-misses'], 1],
  ['MPKI', 'cache-misses', ['instructions'], 1000],
  ['branch-miss-rate%', 'branch-misses', ['branch-instructions'], 100],
  ['dTLB-load-miss-rate%', 'dTLB-load-misses', ['dTLB-loads', 'dTLB-load-misses'], 100],
  ['dTLB-store-miss-rate%', 'dTLB-store-misses', ['dTLB-stores', 'dTLB-store-misses'], 100],
  ['iTLB-load-miss-rate%', 'iTLB-load-misses', ['iTLB-loads', 'iTLB-load-misses'], 100],
  ['instructions-per-iTLB-miss', 'instructions', ['iTLB-load-misses'], 1],
  ['node-load-miss-rate%', 'node-load-misses', ['node-loads', 'node-load-misses'], 100],
  ['node-store-miss-rate%', 'node-store-misses', ['node-stores', 'node-store-misses'], 100],
];

/**
 * `perf stat -I 1000 -x ,` in its comma and its older blank-separated form. Per interval `i.<event>` per second, `i.metric.<unit>` and
 * ratios; for the whole `ps.<event>` per second, `total.instructions` and `overall.` ratios. The last interval is left out, since
 * nothing shows that it is whole; the time of its stamp is still what `ps.` divides by, as in LKP.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const totals: Counts = new Map();
  let counts: Counts = new Map();
  let metrics: Counts = new Map();
  let previous = 0;
  let now = 0;
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const row = readRow(line);
    if (!row) continue;
    if (row.time !== now) {
      if (now > 0) {
        addInterval(out, now, now - previous, counts, metrics);
        for (const [event, count] of counts) increase(totals, event, count);
      }
      previous = now;
      now = row.time;
      counts = new Map();
      metrics = new Map();
    }
    increase(counts, row.event, row.count);
    if (row.unit && row.metric !== undefined) increase(metrics, row.unit, row.metric);
  }
  if (totals.size === 0) return out.samples;
  for (const [event, count] of totals) out.add(`ps.${event}`, count / now);
  out.add('total.instructions', totals.get('instructions'));
  addRatios(out, 'overall', totals);
  return out.samples;
}

function addInterval(out: Sink, time: number, seconds: number, counts: Counts, metrics: Counts): void {
  out.add('time', time);
  for (const [event, count] of counts) out.add(`i.${event}`, count / seconds);
  addRatios(out, 'i', counts);
  for (const [unit, value] of metrics) out.add(`i.metric.${unit}`, value);
}

function addRatios(out: Sink, prefix: string, counts: Counts): void {
  for (const [name, dividend, divisors, factor] of ratios) {
    const above = counts.get(dividend);
    const below = divisors.reduce((sum, event) => sum + (counts.get(event) ?? Number.NaN), 0);
    if (above !== undefined && below > 0) out.add(`${prefix}.${name}`, (above / below) * factor);
  }
}

interface Row {
  time: number;
  count: number;
  event: string;
  metric?: number;
  unit?: string;
}

function readRow(line: string): Row | undefined {
  const comma = line.includes(',');
  const cells = comma ? line.split(',').map((cell) => cell.trim()) : fields(line);
  const time = readNumber(cells[0]);
  const count = readNumber(cells[1]);
  const event = comma ? cells[3] : cells[2];
  if (time === undefined || count === undefined || !event || /^\d/.test(event)) return undefined;
  // Units of more than one word (`of all cache refs`) are of ratios that are computed here.
  const rest = comma ? cells.slice(6) : cells.slice(cells.length - 2);
  const unit = /^([A-Z]Hz|[A-Z]\/sec)$/.exec(rest[1] ?? '')?.[1];
  return { time, count, event, metric: readNumber(rest[0]), unit };
}

function increase(counts: Counts, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
