import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `…/node0/numastat:numa_hit number` lines. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = /\/node(\d+)\/numastat:(\w+) (\d+)$/.exec(line);
    if (match) out.add(`node${match[1]}.${match[2]}`, match[3]);
  }
  return out.samples;
}
