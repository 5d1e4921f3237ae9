import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `Node 0, zone Normal 1 2 3 …`: free blocks of order 0, 1, 2, … per node and zone. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = /^Node (\d+), zone +(\S+) +(.*)$/.exec(line);
    if (!match) continue;
    fields(match[3]!).forEach((count, order) => {
      out.add(`node${match[1]}.${match[2]}.order${order}`, count);
    });
  }
  return out.samples;
}
