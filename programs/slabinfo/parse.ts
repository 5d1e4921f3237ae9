import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const row = /^(\S+)\s+(\d+)\s+(\d+)\s+\d+\s+\d+\s+\d+ : tunables\s+\d+\s+\d+\s+\d+ : slabdata\s+(\d+)\s+(\d+)\s+(\d+)$/;

/** slabinfo 2.1. A cache that appears between the snapshots has one sample only. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    const time = /^time: (\S+)$/.exec(line);
    if (time) out.add('time', time[1]);
    const match = row.exec(line);
    if (!match) continue;
    out.add(`${match[1]}.active_objs`, match[2]);
    out.add(`${match[1]}.num_objs`, match[3]);
    out.add(`${match[1]}.active_slabs`, match[4]);
    out.add(`${match[1]}.num_slabs`, match[5]);
  }
  return out.samples;
}
