import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    const match = /^size: (\d+)$/.exec(line);
    if (match && !context.unterminated) out.add('size', match[1]);
  }
  return out.samples;
}
