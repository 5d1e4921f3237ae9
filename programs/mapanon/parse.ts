import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `name: number [unit]`; only a unit or a line end shows that the number is whole. */
const figure = /^([a-z][a-z0-9_]*): (\d+(?:\.\d+)?)( s| us)?$/;

/** mapanon's figures: one sample per instance; what an instance printed counts only when it ended with `mapanon: complete`. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let pending: [string, string][] = [];
  for (const line of lines) {
    if (context.unterminated) continue;
    if (/^Instance: \d+$/.test(line)) pending = [];
    const match = figure.exec(line);
    if (match && /^swap_(in|out)$/.test(match[1]!)) out.add(match[1]!, match[2]);
    else if (match) pending.push([match[1]!, match[2]!]);
    if (line !== 'mapanon: complete') continue;
    for (const [name, value] of pending) out.add(name, value);
    pending = [];
  }
  return out.samples;
}
