import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `Name: number [kB]` lines; each block begins with a `time:` line. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    const match = /^([\w()]+):\s+(\d+(?:\.\d+)?)( kB)?$/.exec(line);
    if (match && (match[3] || !context.unterminated)) out.add(match[1]!, match[2]);
  }
  return out.samples;
}
