import { fields, type ParseContext, readNumber, type Samples, Sink } from '@kdelta/programs/parsing';

/** Columns of rates that may be added up over the processes of one command. */
const summed = ['%usr', '%system', '%CPU', 'minflt/s', 'majflt/s', 'cswch/s', 'nvcswch/s'];

/**
 * pidstat `-h`: one line per process. Numbers are summed over the processes of one command at one time: process ids differ from boot to
 * boot, commands don't. A command's digits after a slash (kworker/0:1) are left out. A report counts when the next begins or the
 * output ends whole.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let columns: string[] = [];
  let time = '';
  let sums = new Map<string, number>();
  const flush = () => {
    for (const [name, value] of sums) out.add(name, Math.round(value * 100) / 100);
    if (sums.size > 0) out.add('time', time);
    sums = new Map();
  };
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    if (line.startsWith('# ')) {
      columns = fields(line.slice(1));
      continue;
    }
    const cells = fields(line);
    const command = cells
      .slice(columns.length - 1)
      .join('_')
      .replace(/\/.*$/, '');
    const seconds = cells[columns.indexOf('Time')];
    if (columns.length < 3 || cells.length < columns.length || readNumber(seconds) === undefined) continue;
    if (seconds !== time) flush();
    time = seconds!;
    for (const column of summed) {
      const value = readNumber(cells[columns.indexOf(column)]);
      if (value === undefined) continue;
      const name = `${command}.${column.startsWith('%') ? `${column.slice(1)}%` : column}`;
      sums.set(name, (sums.get(name) ?? 0) + value);
    }
  }
  flush();
  return out.samples;
}
