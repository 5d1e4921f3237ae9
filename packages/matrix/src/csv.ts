import { MatrixError } from './errors.ts';
import { readCell } from './parse.ts';
import type { Matrix } from './types.ts';

/**
 * Reads a CSV of one metric per line: a header `metric,<boot>,<boot>…`, then `<name>,<number>,…`; an empty cell is a
 * missing value. Quoting as in RFC 4180.
 *
 * @throws MatrixError KD_MATRIX_SHAPE (with the line), KD_MATRIX_EMPTY
 */
export function parseCsv(text: string, name = 'matrix'): Matrix {
  const [header, ...lines] = readRecords(text);
  if (!header || header.length < 2) {
    throw new MatrixError('KD_MATRIX_SHAPE', `${name}: line 1: expected the header metric,<boot>,<boot>…`);
  }
  const boots = header.slice(1);
  const metrics = new Map<string, (number | null)[]>();
  lines.forEach((cells, i) => {
    if (cells.length === 1 && cells[0] === '') return;
    if (cells.length > header.length) {
      throw new MatrixError(
        'KD_MATRIX_SHAPE',
        `${name}: record ${i + 2} has ${cells.length - 1} values, the header names ${boots.length} boots`,
      );
    }
    const row = boots.map((_, boot) => readCell(cells[boot + 1]));
    if (row.some((value) => value !== null)) metrics.set(cells[0]!, row);
  });
  if (metrics.size === 0) throw new MatrixError('KD_MATRIX_EMPTY', `${name}: no metric has a number`);
  return { boots, metrics };
}

/** The matrix as CSV, lines ended by `\n`; a missing value is an empty cell. Read back by {@link parseCsv}. */
export function writeCsv(matrix: Matrix): string {
  const lines = [['metric', ...matrix.boots].map(quote).join(',')];
  for (const [metric, values] of matrix.metrics) {
    lines.push([quote(metric), ...values.map((value) => (value === null ? '' : String(value)))].join(','));
  }
  return `${lines.join('\n')}\n`;
}

function quote(cell: string): string {
  return /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function readRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const cell = /("(?:[^"]|"")*"|(?!")[^,\r\n]*)(,|\r?\n|$)/gy;
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (!match) throw new MatrixError('KD_MATRIX_SYNTAX', `CSV record ${records.length + 1}: a quote is not closed`);
    const raw = match[1]!;
    record.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (match[2] !== ',') {
      records.push(record);
      record = [];
    }
    if (match[0] === '') break;
  }
  if (record.length > 0) records.push(record);
  return records;
}
