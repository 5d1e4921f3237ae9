import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `Node 0, zone Normal` sections of `name number` lines; a node's own counters stand in its first zone, as `per-node stats`. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let node = '';
  let zone = '';
  let prefix = '';
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const section = /^Node (\d+), zone +(\S+)$/.exec(line);
    if (section) {
      node = `node${section[1]}`;
      zone = `${node}.${section[2]}`;
      prefix = zone;
    } else if (line === '  per-node stats') {
      prefix = node;
    } else if (line.startsWith('  pages free ')) {
      prefix = zone;
      out.add(`${zone}.free`, fields(line)[2]);
    } else if (line.startsWith('  pagesets')) {
      prefix = '';
    } else {
      const match = /^ +([a-z_]\w*) +(\d+)$/.exec(line);
      if (match && prefix !== '') out.add(`${prefix}.${match[1]}`, match[2]);
    }
  }
  return out.samples;
}
