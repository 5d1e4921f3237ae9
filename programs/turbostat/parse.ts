import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/**
 * turbostat's tables: a header of names (between tabs, or blanks before Linux 4.10), then the row for the whole machine (its CPU column, if any, is `-`) and
 * perhaps one per CPU, which are skipped. Each table is one sample.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let columns: string[] = [];
  for (const line of lines) {
    if (context.unterminated) break;
    // Counts are padded with blanks, name and numbers alike.
    const cells = line.includes('\t')
      ? line
          .trimEnd()
          .split(/\t+/)
          .map((cell) => cell.trim())
      : fields(line);
    if (cells.includes('Avg_MHz') || cells.includes('Busy%') || cells.includes('%Busy')) {
      columns = cells;
      continue;
    }
    if (cells.length !== columns.length) continue;
    const cpu = columns.indexOf('CPU');
    if (cpu >= 0 && cells[cpu] !== '-') continue;
    columns.forEach((name, i) => {
      if (name !== 'CPU' && name !== 'Core') out.add(name, cells[i]);
    });
  }
  return out.samples;
}
