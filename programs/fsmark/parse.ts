import { fields, mean, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const row = /^\s*\d+\s+\d+\s+\d+\s+(\d+\.\d+)\s+(\d+)$/;

/** fs_mark 3: the mean over the rows of its table, of which the command line's `-L` says how many there must be. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const rates: number[] = [];
  const overheads: number[] = [];
  let expected = 1;
  for (const line of lines) {
    if (/^#\s+fs_mark\s/.test(line)) {
      const words = fields(line);
      const loops = words.indexOf('-L');
      if (loops > 0) expected = Number(words[loops + 1]) || 1;
    }
    const match = row.exec(line);
    // The overhead ends the line and nothing shows that it is whole.
    if (!match || context.unterminated) continue;
    rates.push(Number(match[1]));
    overheads.push(Number(match[2]));
  }
  if (rates.length === 0 || rates.length < expected) return out.samples;
  out.add('files_per_sec', mean(rates));
  out.add('app_overhead', mean(overheads));
  return out.samples;
}
