import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const row = /^\/proc\/pressure\/(\w+):(some|full) avg10=(\d+\.\d\d) avg60=(\d+\.\d\d) avg300=(\d+\.\d\d) total=(\d+)$/;

/** `/proc/pressure/memory:some avg10=… total=…` lines; totals are µs. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = row.exec(line);
    if (!match) continue;
    const prefix = `${match[1]}.${match[2]}`;
    out.add(`${prefix}.avg10%`, match[3]);
    out.add(`${prefix}.avg60%`, match[4]);
    out.add(`${prefix}.avg300%`, match[5]);
    out.add(`${prefix}.total_us`, match[6]);
  }
  return out.samples;
}
