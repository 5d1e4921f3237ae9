import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const columns = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'];

/** The machine's line of CPU time in jiffies, and the single counters. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const [name, ...numbers] = fields(line);
    if (name === 'cpu') {
      columns.forEach((column, i) => {
        out.add(`cpu.${column}`, numbers[i]);
      });
    } else if (name && /^(intr|ctxt|processes|procs_running|procs_blocked|softirq)$/.test(name)) {
      out.add(name, numbers[0]);
    }
  }
  return out.samples;
}
