import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const times = String.raw`elapsed: (\d+\.\d{3}) user: (\d+\.\d{3}) system: (\d+\.\d{3})`;
const compiled = new RegExp(`^Finished compiling kernel: ${times}$`);
const loaded = new RegExp(`^Finished (\\w+): ${times} loads: (\\d+\\.\\d{3})$`);

/**
 * contest's log. Per load: `time` (s), `cpu_pct` = 100 (user + system) / elapsed of the compile, `loads` (rounds),
 * `load_rate` (rounds per second), `lcpu_pct` of the load, and `ratio` = time / the mean no_load time of the same boot.
 * A compile that was stopped at its limit is `timeout: 1` and has no time.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const runs: { load: string; time: number }[] = [];
  let load = '';
  for (const line of lines) {
    if (context.unterminated) continue;
    load = /^Load: (\w+)$/.exec(line)?.[1] ?? load;
    if (load === '') continue;
    const stopped = /^Timeout (\w+) after \d+ s$/.exec(line);
    if (stopped) out.add(`${stopped[1]}.timeout`, 1);
    const own = compiled.exec(line);
    if (own) {
      const [elapsed, user, system] = own.slice(1).map(Number) as [number, number, number];
      runs.push({ load, time: elapsed });
      out.add(`${load}.time`, elapsed);
      out.add(`${load}.cpu_pct`, (100 * (user + system)) / elapsed);
    }
    const other = loaded.exec(line);
    if (!other) continue;
    const [elapsed, user, system, loads] = other.slice(2).map(Number) as [number, number, number, number];
    out.add(`${other[1]}.loads`, loads);
    out.add(`${other[1]}.load_rate`, loads / elapsed);
    out.add(`${other[1]}.lcpu_pct`, (100 * (user + system)) / elapsed);
  }
  const alone = runs.filter((run) => run.load === 'no_load').map((run) => run.time);
  if (alone.length === 0) return out.samples;
  const mean = alone.reduce((a, b) => a + b, 0) / alone.length;
  for (const run of runs) out.add(`${run.load}.ratio`, run.time / mean);
  return out.samples;
}
