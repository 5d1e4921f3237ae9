import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** Columns of a `cpuN` line since version 15, whose second is always 0. */
const columns = [
  'yld_count',
  '',
  'sched_count',
  'sched_goidle',
  'ttwu_count',
  'ttwu_local',
  'run_time_ns',
  'run_delay_ns',
  'pcount',
];

/** Sums over all CPUs. A table that is cut before its end has too small sums, so a table counts when the next begins or the output ends. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let sums: number[] = [];
  const flush = () => {
    for (const [i, sum] of sums.entries()) if (columns[i]) out.add(columns[i]!, sum);
    sums = [];
  };
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const time = /^time: (\S+)$/.exec(line)?.[1];
    if (time) flush();
    out.add('time', time);
    if (!/^cpu\d+ /.test(line)) continue;
    const numbers = fields(line).slice(1).map(Number);
    if (numbers.length !== columns.length || !numbers.every(Number.isFinite)) continue;
    sums = numbers.map((value, i) => value + (sums[i] ?? 0));
  }
  flush();
  return out.samples;
}
