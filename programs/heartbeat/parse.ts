import { type ParseContext, readNumber, type Samples, Sink } from '@kdelta/programs/parsing';

/** `time:` lines: how many, and the longest and the mean gap between two in seconds. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let first: number | undefined;
  let last: number | undefined;
  let beats = 0;
  let longest = 0;
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const time = readNumber(/^time: (\d+\.\d\d)$/.exec(line)?.[1]);
    if (time === undefined) continue;
    if (last !== undefined) longest = Math.max(longest, time - last);
    first ??= time;
    last = time;
    beats += 1;
  }
  if (beats > 0) out.add('beats', beats);
  if (beats > 1) {
    out.add('max_gap_s', longest);
    out.add('mean_gap_s', (last! - first!) / (beats - 1));
  }
  return out.samples;
}
