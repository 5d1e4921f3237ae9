import { type Delta, fixed, general } from '@kdelta/stats';
import { chooseRows, type TableInput } from './table.ts';
import { averageCell, changeCell } from './table-cells.ts';

/**
 * The wide table: per metric the change with its 95 % interval, p, q, the smallest detectable change, verdict and
 * flags, and under it each kernel's boots one by one (`-` where a boot has no value).
 */
export function renderExplain(input: Pick<TableInput, 'columns' | 'deltas' | 'rows'>): string {
  const lines: string[] = [];
  input.deltas.forEach((deltas, head) => {
    const base = input.columns[0]!;
    const column = input.columns[head + 1]!;
    if (head > 0) lines.push('');
    lines.push(
      `${base.heading} (${base.matrix.boots.length} boots) → ${column.heading} (${column.matrix.boots.length} boots)`,
    );
    lines.push(
      '      base     change       head           95 % interval         p         q   detects  verdict       metric',
    );
    const shown = chooseRows({ deltas: [deltas], rows: input.rows });
    for (const { first: delta } of shown) {
      lines.push(explainLine(delta));
      lines.push(`${' '.repeat(12)}base: ${bootValues(delta.base.values)}`);
      lines.push(`${' '.repeat(12)}head: ${bootValues(delta.head.values)}`);
    }
  });
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function explainLine(delta: Delta): string {
  const interval = delta.ci95Pct ? `[${signed(delta.ci95Pct[0])}, ${signed(delta.ci95Pct[1])}] %` : '-';
  const detects = delta.detectablePct === null ? '-' : `${general(delta.detectablePct, 2)} %`;
  const flags = delta.flags.length > 0 ? `  (${delta.flags.join(', ')})` : '';
  return [
    averageCell(delta.base.mean),
    changeCell(delta),
    ` ${averageCell(delta.head.mean)}`,
    interval.padStart(24),
    number(delta.p).padStart(10),
    number(delta.q).padStart(10),
    detects.padStart(10),
    `  ${delta.verdict.padEnd(13)} ${delta.metric}${flags}`,
  ].join('');
}

function bootValues(values: (number | null)[]): string {
  return values.map((value) => (value === null ? '-' : general(value, 7))).join('  ');
}

function number(value: number | null): string {
  return value === null ? '-' : general(value, 2);
}

function signed(value: number): string {
  const text = Math.abs(value) >= 1000 ? general(value, 3) : fixed(value, 2);
  return value >= 0 ? `+${text}` : text;
}
