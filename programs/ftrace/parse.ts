import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** After each `event: SYSTEM:NAME` line the kernel's histogram; `SYSTEM:NAME` is its number of hits. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let event: string | undefined;
  for (const line of lines) {
    if (context.unterminated) break;
    event = /^event: (\w+:\w+)$/.exec(line)?.[1] ?? event;
    const hits = /^ +Hits: (\d+)$/.exec(line);
    if (!hits || event === undefined) continue;
    out.add(event, hits[1]);
    event = undefined;
  }
  return out.samples;
}
