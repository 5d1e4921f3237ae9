import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    const match = /^nr_set: (\d+)$/.exec(line);
    if (match && !context.unterminated) out.add('nr_set', match[1]);
  }
  return out.samples;
}
