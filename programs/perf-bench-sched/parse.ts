import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `perf bench sched …` and `perf bench syscall …`: total seconds, and µs per operation and operations per second where they are printed. */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    out.add('total_time', /^ +Total time: (\d+\.\d{3}) \[sec\]$/.exec(line)?.[1]);
    out.add('usecs_per_op', /^ +(\d+\.\d{6}) usecs\/op$/.exec(line)?.[1]);
    out.add('ops/s', /^ +([\d,]+) ops\/sec$/.exec(line)?.[1]?.replaceAll(',', ''));
  }
  return out.samples;
}
