import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `Node 0 MemFree: 123 kB` lines. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = /Node (\d+) ([\w()]+): +(\d+)( kB)?$/.exec(line);
    if (match) out.add(`node${match[1]}.${match[2]}`, match[3]);
  }
  return out.samples;
}
