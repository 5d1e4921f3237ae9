import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `name number` lines; sizes are bytes. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = /^([a-z]\w*) (\d+)$/.exec(line);
    if (match) out.add(match[1]!, match[2]);
  }
  return out.samples;
}
