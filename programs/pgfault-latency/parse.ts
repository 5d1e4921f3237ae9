import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** ftrace's buckets: `{ lat: ~ 600-1199 } hitcount: 45`. */
const bucket = /^\{ lat: ~ (\d+)-\d+ *\} hitcount: +(\d+)$/;
/** Values that found no place in ftrace's table of buckets: `Dropped: 0`. */
const dropped = /^ +Dropped: (\d+)$/;
/** bpftrace's map of cgroup and bucket: `@h[5, 2]: 45`. */
const entry = /^@h\[(\d+), (\d+)\]: (\d+)$/;
/** Which cgroup has a number: `# cgroup 5 /system.slice`. A number is given again only after a cgroup was removed. */
const named = /^# cgroup (\d+) (\/\S*)$/;

/**
 * Counts of page faults by the time that the kernel took, not cumulative over the bounds, cumulative over time: a boot's value is last −
 * first. `latency_<600ns` … `latency_<infns`, with bpftrace also `cgroup-<path>.` and each of them; with ftrace `dropped`. A sample counts
 * when it is whole: when the next begins, or at the end of an output that ends with a whole line.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let bounds: number[] = [];
  let time: string | undefined;
  let counts = new Map<string, number>();
  const paths = new Map<string, string>();
  /** Prefixes of the cgroups seen. */
  const cgroups = new Set<string>();
  let samples = 0;
  const bucketName = (index: number) => `latency_<${bounds[index] ?? 'inf'}ns`;
  const flush = () => {
    if (time === undefined) return;
    out.add('time', time);
    for (const prefix of ['', ...cgroups])
      for (let index = 0; index <= bounds.length; index++)
        out.add(prefix + bucketName(index), counts.get(prefix + bucketName(index)) ?? 0);
    samples++;
    if (counts.has('dropped')) out.add('dropped', counts.get('dropped')!);
    counts = new Map();
  };
  const count = (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by);
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const header = /^# bounds: ([\d,]+)$/.exec(line);
    if (header) bounds = header[1]!.split(',').map(Number);
    const stamp = /^time: (\S+)$/.exec(line);
    if (stamp) {
      flush();
      time = stamp[1];
    }
    const cgroup = named.exec(line);
    if (cgroup) paths.set(cgroup[1]!, cgroup[2]!);
    const drops = dropped.exec(line);
    if (drops) count('dropped', Number(drops[1]));
    const hits = bucket.exec(fields(line).join(' '));
    if (hits) {
      const index = bounds.findIndex((bound) => Number(hits[1]) < bound);
      count(bucketName(index < 0 ? bounds.length : index), Number(hits[2]));
    }
    const mapped = entry.exec(line);
    if (!mapped) continue;
    const prefix = `cgroup-${paths.get(mapped[1]!) ?? mapped[1]}.`;
    if (!cgroups.has(prefix)) {
      cgroups.add(prefix);
      // It had no fault before, so a cgroup that comes later counts from 0 as the others do.
      for (let sample = 0; sample < samples; sample++)
        for (let index = 0; index <= bounds.length; index++) out.add(prefix + bucketName(index), 0);
    }
    count(bucketName(Number(mapped[2])), Number(mapped[3]));
    count(prefix + bucketName(Number(mapped[2])), Number(mapped[3]));
  }
  flush();
  return out.samples;
}
