import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const averaged = /^Averaged (\d+) operations\/sec \(\+- (\d+\.\d\d)%\), total secs = \d/;
const latency = /^(?:Wokeup|Requeued) \d+ of (\d+) threads in (\d+\.\d+) ms \(\+- ?(\d+\.\d\d)%\)$/;
const perThread = /^Avg per-thread latency \(waking \d+\/\d+ threads\) in (\d+\.\d+) ms \(\+- ?(\d+\.\d\d)%\)$/;

/** `perf bench futex`: operations per second (hash, lock-pi), or the time in ms to wake or requeue all threads. */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    const rate = averaged.exec(line);
    out.add('ops/s', rate?.[1]);
    out.add('stddev%', rate?.[2]);
    const time = latency.exec(line);
    out.add('latency_ms', time?.[2]);
    out.add('latency_stddev%', time?.[3]);
    const each = perThread.exec(line);
    out.add('per_thread_latency_ms', each?.[1]);
    out.add('per_thread_latency_stddev%', each?.[2]);
  }
  return out.samples;
}
