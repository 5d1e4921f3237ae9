import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const result = /^\S.*? {2,}(\d+\.\d) (?:KBps|lps|lpm|MWIPS|MFLOPS) +\(\d+\.\d s, \d+ samples\)$/;
const score = /^System Benchmarks(?: \w+)? Index Score(?: \(Partial Only\))? +(\d+\.\d)$/;
const run = /^Benchmark Run: .* (\d\d):(\d\d):(\d\d) - (\d\d):(\d\d):(\d\d)$/;

/** UnixBench 5: the throughput of each test, in its own unit, and `workload`, that times the seconds that the run took. */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  let seconds: number | undefined;
  for (const line of lines) {
    const times = run.exec(line);
    if (times) {
      const [h1, m1, s1, h2, m2, s2] = times.slice(1).map(Number) as [number, number, number, number, number, number];
      // A run may pass midnight.
      seconds = ((h2 - h1) * 3600 + (m2 - m1) * 60 + (s2 - s1) + 86_400) % 86_400;
    }
    out.add('score', score.exec(line)?.[1]);
    const match = result.exec(line);
    if (!match) continue;
    out.add('throughput', match[1]);
    if (seconds !== undefined) out.add('workload', Number(match[1]) * seconds);
    out.add('test.pass', 1);
  }
  return out.samples;
}
