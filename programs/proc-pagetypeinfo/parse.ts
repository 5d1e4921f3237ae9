import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** Free blocks per node, zone, mobility and order, and page blocks per mobility. Counts over 100,000 are printed as `>100000`: no number. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let types: string[] = [];
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const header = /^Number of blocks type +(.*)$/.exec(line);
    if (header) types = fields(header[1]!);
    const free = /^Node +(\d+), zone +(\S+), type +(\S+) +(.*)$/.exec(line);
    if (free) {
      fields(free[4]!).forEach((count, order) => {
        out.add(`node${free[1]}.${free[2]}.${free[3]}.order${order}`, count);
      });
      continue;
    }
    const blocks = /^Node +(\d+), zone +(\S+) +(\d.*)$/.exec(line);
    if (!blocks) continue;
    fields(blocks[3]!).forEach((count, i) => {
      if (types[i]) out.add(`node${blocks[1]}.${blocks[2]}.${types[i]}.blocks`, count);
    });
  }
  return out.samples;
}
