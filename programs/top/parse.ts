import { fields, type ParseContext, readNumber, type Samples, Sink } from '@kdelta/programs/parsing';

/**
 * procps' `top -b`: `load1`, `tasks.running`, `cpu.us%` of each report, and `<command>.CPU%`, summed over the processes of one
 * command. A command's digits after a slash (kworker/0:1) are left out. A report counts when the next begins or the output ends whole.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let report: Map<string, number> | undefined;
  let columns: string[] = [];
  const flush = () => {
    for (const [name, value] of report ?? []) out.add(name, Math.round(value * 100) / 100);
  };
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const load = /^top - .* load average: (\d+\.\d\d), \d+\.\d\d, \d+\.\d\d$/.exec(line);
    if (load) {
      flush();
      report = new Map([['load1', Number(load[1])]]);
      columns = [];
    }
    if (!report) continue;
    const counts = /^(Tasks|%Cpu\(s\)): (.*)$/.exec(line);
    for (const [, value, name] of counts?.[2]?.matchAll(/(\d+(?:\.\d)?) (\w+)/g) ?? []) {
      report.set(counts![1] === 'Tasks' ? `tasks.${name}` : `cpu.${name}%`, Number(value));
    }
    const cells = fields(line);
    if (cells[0] === 'PID') columns = cells;
    const share = readNumber(cells[columns.indexOf('%CPU')]);
    if (share === undefined || cells.length < columns.length || !/^\d+$/.test(cells[0]!)) continue;
    const command = cells
      .slice(columns.length - 1)
      .join('_')
      .replace(/\/.*$/, '');
    const name = `${command}.CPU%`;
    report.set(name, (report.get(name) ?? 0) + share);
  }
  flush();
  return out.samples;
}
