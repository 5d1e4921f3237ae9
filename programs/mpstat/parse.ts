import { braces, type ParseContext, parseJson, type Samples, Sink } from '@kdelta/programs/parsing';

/** Longest statistics item: 5,000 CPUs of 250 characters. */
const maxItemLength = 4 << 20;

/**
 * mpstat `-o JSON`, read item by item, so that a file whose end is missing (mpstat was killed) gives all that is whole.
 * `cpu.all.usr%` and so on; other tables are `table.row.column`. `time` is seconds since the epoch, read as UTC as LKP does.
 *
 * `max_utilization%` is the busiest row of any sample, 100 − idle − iowait. LKP's `max_utilization_pct` is that times the number of rows,
 * and its `max_utilization.seconds` the row's index times the number of rows: kept for LKP's readers only.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const busiest = { rows: 0, index: 0, utilization: Number.NEGATIVE_INFINITY };
  let date = '';
  let item = '';
  let depth = 0;
  for (const line of lines) {
    date = /^\s*"date": "(\d{4}-\d\d-\d\d)"/.exec(line)?.[1] ?? date;
    if (depth === 0 && line.trim() !== '{') continue;
    item += line;
    depth += braces(line);
    // The objects around the items (host, sysstat) open the same way: an item names its time stamp first.
    if (depth > 0 && item.length < maxItemLength && /^\s*\{\s*($|"timestamp")/.test(item)) continue;
    const read = depth === 0 ? parseJson(item.replace(/,\s*$/, '')) : undefined;
    if (read) addItem(out, read as Record<string, unknown>, date, busiest);
    item = '';
    depth = 0;
  }
  if (depth > 0 || context.unterminated || busiest.rows === 0) return out.samples;
  out.add('max_utilization%', busiest.utilization);
  out.add('max_utilization_pct', busiest.utilization * busiest.rows);
  out.add('max_utilization.seconds', (busiest.index + 1) * busiest.rows);
  return out.samples;
}

type Busiest = { rows: number; index: number; utilization: number };

function addItem(out: Sink, item: Record<string, unknown>, date: string, busiest: Busiest): void {
  if (typeof item.timestamp !== 'string') return;
  out.add('time', Date.parse(`${date}T${item.timestamp}Z`) / 1000);
  for (const [table, rows] of Object.entries(item)) {
    if (!Array.isArray(rows)) continue;
    for (const row of rows) {
      if (typeof row !== 'object' || row === null) continue;
      addRow(out, table, row as Record<string, unknown>);
      noteBusiest(row as Record<string, unknown>, busiest);
    }
  }
}

function addRow(out: Sink, table: string, row: Record<string, unknown>): void {
  const [first, ...rest] = Object.entries(row);
  if (!first) return;
  const percent = table === 'cpu-load' || table === 'node-load';
  const prefix = percent ? table.slice(0, -'-load'.length) : table;
  for (const [column, value] of rest) {
    if (typeof value === 'number') out.add(`${prefix}.${first[1]}.${column}${percent ? '%' : ''}`, value);
  }
}

function noteBusiest(row: Record<string, unknown>, busiest: Busiest): void {
  if (typeof row.idle !== 'number' || typeof row.iowait !== 'number') return;
  const utilization = 100 - row.idle - row.iowait;
  if (utilization > busiest.utilization) {
    busiest.utilization = utilization;
    busiest.index = busiest.rows;
  }
  busiest.rows += 1;
}
