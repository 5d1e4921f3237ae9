import type { Matrix } from '@kdelta/matrix';
import { type Delta, isReported, type Side } from '@kdelta/stats';
import { averageCell, changeCell, failCell, reproductionCell, stddevCell } from './table-cells.ts';

export interface TableColumn {
  /** What stands over the column: a commit's sha, a release, a file. Cut to the column's width. */
  heading: string;
  /** The commit's subject line, for the list of commits above the table. */
  subject?: string;
  matrix: Matrix;
}

export interface TableInput {
  /** The base first, then one or more heads. */
  columns: TableColumn[];
  /** Per head (in the order of `columns` without the base): its deltas against the base, in judge's order. */
  deltas: Delta[][];
  /** The testcase's axes, e.g. `[['kconfig', 'x86_64'], ['testcase', 'dbench']]`; printed in this order. */
  axes?: [key: string, value: string][];
  /** `changed` (default): what is reported for any head, and all KPIs. */
  rows?: 'changed' | 'all' | 'kpi';
}

const FIRST_WIDTH = 16;
const NEXT_WIDTH = 27;

/**
 * The comparison table in the layout of LKP's ncompare: average 10 characters wide, stddev 6, change 11; the first
 * column 16, each further one 27 and a space. Function metrics (`fail:runs`) first. Deviations are named in
 * docs/tables.md: stddev divides by n − 1 and is always printed where there are two boots, a missing value is never
 * 0, and rows are those of the judge.
 *
 * @returns lines without trailing blanks, each ended by `\n`
 */
export function renderTable(input: TableInput): string {
  const lines: string[] = [];
  if (input.axes?.length) {
    lines.push('='.repeat(89));
    lines.push(
      `${input.axes.map(([key]) => key).join('/')}:`,
      `  ${input.axes.map(([, value]) => value).join('/')}`,
      '',
    );
  }
  if (input.columns.some((column) => column.subject)) {
    lines.push('commit:');
    for (const column of input.columns) {
      const subject = column.subject ? ` ("${column.subject}")` : '';
      lines.push(`  ${column.heading.slice(0, 10)}${subject}`);
    }
    lines.push('');
  }
  const widths = input.columns.map((_, i) => (i === 0 ? FIRST_WIDTH : NEXT_WIDTH));
  lines.push(input.columns.map((column, i) => column.heading.slice(0, widths[i]).padEnd(widths[i]!)).join(' '));
  lines.push(widths.map((width) => '-'.repeat(width)).join(' '));

  const rows = chooseRows(input);
  const heads = input.deltas.length;
  const functions = rows.filter((row) => row.first.family === 'function');
  const measures = rows.filter((row) => row.first.family !== 'function');
  if (functions.length > 0) {
    lines.push(`       fail:runs${'  %reproduction    fail:runs'.repeat(heads)}`);
    lines.push(`           |    ${'         |             |    '.repeat(heads)}`);
    for (const row of functions) lines.push(renderRow(row, functionCells));
  }
  if (measures.length > 0) {
    lines.push(`         %stddev${'     %change         %stddev'.repeat(heads)}`);
    lines.push(`             \\  ${'        |                \\  '.repeat(heads)}`);
    for (const row of measures) lines.push(renderRow(row, measureCells));
  }
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

export interface TableRow {
  metric: string;
  first: Delta;
  /** Per head; undefined where that head's judgement has no such metric. */
  deltas: (Delta | undefined)[];
}

/** The rows that a table shows, in the order in which the judge ranks them (the first head's judge leads). */
export function chooseRows(input: Pick<TableInput, 'deltas' | 'rows'>): TableRow[] {
  const rows = new Map<string, TableRow>();
  input.deltas.forEach((deltas, head) => {
    for (const delta of deltas) {
      let row = rows.get(delta.metric);
      if (!row) {
        row = { metric: delta.metric, first: delta, deltas: new Array(input.deltas.length).fill(undefined) };
        rows.set(delta.metric, row);
      }
      row.deltas[head] = delta;
    }
  });
  const all = [...rows.values()];
  if (input.rows === 'all') return all;
  if (input.rows === 'kpi') return all.filter((row) => row.first.kpi);
  return all.filter((row) => row.first.kpi || row.deltas.some((delta) => delta && isReported(delta)));
}

function renderRow(row: TableRow, cells: (base: Side, delta: Delta | undefined, first: boolean) => string): string {
  const parts = [cells(row.first.base, row.first, true)];
  for (const delta of row.deltas) parts.push(cells(row.first.base, delta, false));
  return `${parts.join('')}  ${row.metric}`;
}

function measureCells(base: Side, delta: Delta | undefined, first: boolean): string {
  if (first) return averageCell(base.mean) + stddevCell(base);
  if (!delta) return ' '.repeat(NEXT_WIDTH + 1);
  return `${changeCell(delta)} ${averageCell(delta.head.mean)}${stddevCell(delta.head)}`;
}

function functionCells(base: Side, delta: Delta | undefined, first: boolean): string {
  if (first) return failCell(base);
  if (!delta) return ' '.repeat(NEXT_WIDTH + 1);
  return `${reproductionCell(delta)} ${failCell(delta.head)}`;
}
