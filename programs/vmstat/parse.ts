import { fields, LineStamps, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** vmstat's column → the group that stands over it. */
const groups: Record<string, string> = {
  r: 'procs',
  b: 'procs',
  swpd: 'memory',
  free: 'memory',
  buff: 'memory',
  cache: 'memory',
  inact: 'memory',
  active: 'memory',
  si: 'swap',
  so: 'swap',
  bi: 'io',
  bo: 'io',
  in: 'system',
  cs: 'system',
  us: 'cpu',
  sy: 'cpu',
  id: 'cpu',
  wa: 'cpu',
  st: 'cpu',
  gu: 'cpu',
};

/** procps 4.0.0 to 4.0.2 print the memory of their first line in all (mended in 4.0.3): no number of those lines is a measurement. */
const staleMemory = /^# vmstat from procps-ng 4\.0\.[0-2]\b/;

const stamp = /\s(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/;

/**
 * vmstat with one line per sample, with or without `-t`. `time` is seconds since the epoch; the stamp is read as UTC whatever zone
 * the header names, as LKP does. Columns are taken by their names, so that vmstat's versions may differ. A line that names a
 * version with stale memory columns, as the monitor writes it, leaves those out.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let columns: string[] = [];
  let stale = false;
  const stamps = new LineStamps();
  for (const line of stamps.strip(lines, context)) {
    stale ||= staleMemory.test(line);
    if (/^\s*r\s+b\s/.test(line)) {
      columns = context.unterminated ? [] : fields(line).filter((name) => groups[name]);
      continue;
    }
    const time = stamp.exec(line);
    if (context.unterminated && !time) break;
    const values = fields(time ? line.slice(0, time.index) : line);
    if (values.length !== columns.length || values.length === 0 || !values.every((value) => /^\d+$/.test(value)))
      continue;
    if (time) out.add('time', Date.parse(`${time[1]}T${time[2]}Z`) / 1000);
    columns.forEach((name, i) => {
      if (!(stale && groups[name] === 'memory')) out.add(`${groups[name]}.${name}`, values[i]);
    });
  }
  stamps.addGap(out);
  return out.samples;
}
