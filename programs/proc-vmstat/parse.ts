import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `name number` lines; each block begins with a `time:` line. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    // The line has nothing after the number to show that it is whole.
    if (context.unterminated) break;
    const match = /^(time:|\w+) (-?\d+(?:\.\d+)?)$/.exec(line);
    if (match) out.add(match[1] === 'time:' ? 'time' : match[1]!, match[2]);
  }
  return out.samples;
}
