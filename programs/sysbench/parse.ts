import { type ParseContext, readNumber, type Samples, Sink } from '@kdelta/programs/parsing';

/** sysbench 1.0. Events per second are computed from events and time: only some tests print them. Latencies are ms. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let seconds: number | undefined;
  for (const line of lines) {
    seconds = readNumber(/^ +total time: +(\d+\.\d+)s$/.exec(line)?.[1]) ?? seconds;
    out.add('MiB/s', /^\d+\.\d\d MiB transferred \((\d+\.\d\d) MiB\/sec\)$/.exec(line)?.[1]);
    const latency = /^ +(min|avg|max|95th percentile): +(\d+\.\d\d)$/.exec(line);
    if (latency) out.add(`latency_${latency[1]!.replace('95th percentile', 'p95')}_ms`, latency[2]);
    const events = readNumber(/^ +total number of events: +(\d+)$/.exec(line)?.[1]);
    if (events === undefined || context.unterminated || !seconds) continue;
    out.add('total_time', seconds);
    out.add('events', events);
    out.add('events_per_sec', events / seconds);
  }
  return out.samples;
}
