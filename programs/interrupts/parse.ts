import { type ParseContext, type Samples, Sink, sumOverCpus } from '@kdelta/programs/parsing';

/** Per row the sum over all CPUs, once for each snapshot. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  sumOverCpus(lines, context, out);
  return out.samples;
}
