import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const row = /^(Elapsed Time|User Time|System Time|Percent CPU|Context Switches|Sleeps) (\d\S*) \((\d\S*|nan)\)$/;

/** kernbench 0.50: the averages over its runs, seconds and counts; each with its standard deviation. */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    const match = row.exec(line);
    if (!match) continue;
    const name = match[1]!.toLowerCase().replace(' ', '_');
    out.add(name, match[2]);
    out.add(`${name}_stddev`, match[3]);
  }
  return out.samples;
}
