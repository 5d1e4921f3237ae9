import { mean, type ParseContext, populationStddev, roundTo, type Samples, Sink } from '@kdelta/programs/parsing';

/** Percentile, `min` or `max` → µs, of one table. */
type Table = Map<string, number>;
type Kind = 'wakeup' | 'request';

/**
 * schbench: latencies in µs over all tables that it printed (mean, and stddev in % of it), and of the last table of each iteration
 * (`_end_`: the largest, and their stddev). `average_rps` is one sample per iteration, and what shows that an iteration is whole: an
 * output that ends within one has only those.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const tables: Record<Kind, Table[]> = { wakeup: [], request: [] };
  const last: Record<Kind, Table[]> = { wakeup: [], request: [] };
  let table: Table | undefined;
  let open = false;
  for (const line of lines) {
    const heading = /^(Wakeup|Request|RPS) (?:Latencies )?percentiles/.exec(line);
    if (heading) {
      open = true;
      table = new Map();
      if (heading[1] !== 'RPS') tables[heading[1]!.toLowerCase() as Kind].push(table);
      continue;
    }
    const rps = /^average rps: (\d+\.\d\d)$/.exec(line);
    if (rps) {
      out.add('average_rps', rps[1]);
      for (const kind of ['wakeup', 'request'] as const) last[kind].push(tables[kind].at(-1) ?? new Map());
      open = false;
      continue;
    }
    if (/^Iteration ?: ?\d/.test(line) || context.unterminated) open = true;
    if (table) readTableLine(line, table);
  }
  if (open) return out.samples;
  for (const kind of ['wakeup', 'request'] as const) {
    addAll(out, kind, tables[kind]);
    addEnds(out, kind, last[kind]);
  }
  return out.samples;
}

function readTableLine(line: string, table: Table): void {
  const percentile = /^ *\*? *(\d+\.\d)th: (\d+) +\(\d+ samples\)$/.exec(line);
  if (percentile) table.set(`${Number(percentile[1])}%`, Number(percentile[2]));
  const range = /^ +min=(\d+), max=(\d+)$/.exec(line);
  if (!range) return;
  table.set('min', Number(range[1]));
  table.set('max', Number(range[2]));
}

function addAll(out: Sink, kind: Kind, tables: Table[]): void {
  for (const [name, values] of columns(tables)) {
    out.add(`${kind}_latency_${name}_us`, roundTo(mean(values), 2));
    out.add(`${kind}_latency_${name}_us_stddev%`, relativeStddev(values));
  }
}

function addEnds(out: Sink, kind: Kind, tables: Table[]): void {
  for (const [name, values] of columns(tables)) {
    if (name === 'min' || name === 'max') continue;
    out.add(
      `${kind}_end_latency_${name}_us_max`,
      values.reduce((a, b) => Math.max(a, b)),
    );
    out.add(`${kind}_end_latency_${name}_us_stddev%`, relativeStddev(values));
  }
}

function columns(tables: Table[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const table of tables) {
    for (const [name, value] of table) {
      const values = found.get(name);
      if (values) values.push(value);
      else found.set(name, [value]);
    }
  }
  return found;
}

function relativeStddev(values: number[]): number | undefined {
  const average = mean(values);
  return average > 0 ? roundTo((100 * populationStddev(values)) / average, 2) : undefined;
}
