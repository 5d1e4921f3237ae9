import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** ftrace's buckets: `{ lat: ~ 600-1199 } hitcount: 45`. */
const bucket = /^\{ lat: ~ (\d+)-\d+ *\} hitcount: +(\d+)$/;
/** bpftrace's map of cgroup and bucket: `@h[5, 2]: 45`. */
const entry = /^@h\[(\d+), (\d+)\]: (\d+)$/;

/**
 * Counts of page faults by the time that the kernel took, not cumulative over the bounds, cumulative over time: a boot's value is last −
 * first. `latency_<600ns` … `latency_<infns`, with bpftrace also for each cgroup. A sample counts when it is whole: when the next
 * begins, or at the end of an output that ends with a whole line.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let bounds: number[] = [];
  let time: string | undefined;
  let counts = new Map<string, number>();
  const flush = () => {
    if (time === undefined) return;
    out.add('time', time);
    for (const name of [...bounds.map((bound) => `latency_<${bound}ns`), 'latency_<infns']) {
      out.add(name, counts.get(name) ?? 0);
    }
    for (const [name, count] of counts) if (name.startsWith('cgroup-')) out.add(name, count);
    counts = new Map();
  };
  const count = (prefix: string, index: number, by: number) => {
    const name = `${prefix}latency_<${bounds[index] ?? 'inf'}ns`;
    counts.set(name, (counts.get(name) ?? 0) + by);
  };
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const header = /^# bounds: ([\d,]+)$/.exec(line);
    if (header) bounds = header[1]!.split(',').map(Number);
    const stamp = /^time: (\S+)$/.exec(line);
    if (stamp) {
      flush();
      time = stamp[1];
    }
    const hits = bucket.exec(fields(line).join(' '));
    if (hits) {
      const index = bounds.findIndex((bound) => Number(hits[1]) < bound);
      count('', index < 0 ? bounds.length : index, Number(hits[2]));
    }
    const mapped = entry.exec(line);
    if (!mapped) continue;
    count('', Number(mapped[2]), Number(mapped[3]));
    count(`cgroup-${mapped[1]}.`, Number(mapped[2]), Number(mapped[3]));
  }
  flush();
  return out.samples;
}
