import { mean, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const row = /^T: *(\d+) \( *\d+\) P: *\d+ I: *\d+ C: *(\d+) Min: *(\d+) Act: *\d+ Avg: *(\d+) Max: *(\d+)$/;

/** cyclictest's last line of each thread, latencies in µs. Interactive output repeats the lines: the last of a thread counts. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const threads = new Map<string, { cycles: number; min: number; avg: number; max: number }>();
  for (const line of lines) {
    // The maximum ends the line and nothing shows that it is whole; without it the worst of all isn't known.
    if (context.unterminated) return out.samples;
    const match = row.exec(line);
    if (!match) continue;
    const [cycles, min, avg, max] = match.slice(2).map(Number) as [number, number, number, number];
    threads.set(match[1]!, { cycles, min, avg, max });
  }
  if (threads.size === 0) return out.samples;
  const all = [...threads.values()];
  out.add('latency_min_us', Math.min(...all.map(({ min }) => min)));
  out.add('latency_avg_us', mean(all.map(({ avg }) => avg)));
  out.add('latency_max_us', Math.max(...all.map(({ max }) => max)));
  out.add('cycles', mean(all.map(({ cycles }) => cycles)));
  return out.samples;
}
