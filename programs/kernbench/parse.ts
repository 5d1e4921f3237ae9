import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const row = /^(Elapsed Time|User Time|System Time|Percent CPU|Context Switches|Sleeps) (\d\S*)(?: \((\d\S*|nan)\))?$/;

/** kernbench 0.50: the averages over its runs, seconds and counts; each with its standard deviation where there was more than one. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    // A number at the end of the line has nothing behind it that shows it whole.
    if (context.unterminated && !line.endsWith(')')) break;
    const match = row.exec(line);
    if (!match) continue;
    const name = match[1]!.toLowerCase().replace(' ', '_');
    out.add(name, match[2]);
    if (match[3] !== undefined) out.add(`${name}_stddev`, match[3]);
  }
  return out.samples;
}
