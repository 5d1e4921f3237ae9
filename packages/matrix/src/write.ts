import type { Matrix } from './types.ts';

/**
 * The matrix as JSON in LKP's form: metric → array, with `stats_source` naming each column's boot.
 * Missing values are `null`; `lkp: true` writes 0 instead, for readers that know no null.
 */
export function writeMatrixJson(matrix: Matrix, options: { lkp?: boolean } = {}): string {
  // Built by hand: an object literal would lose a metric named `__proto__`.
  const lines = [`  "stats_source": ${JSON.stringify(matrix.boots)}`];
  for (const [metric, values] of matrix.metrics) {
    const cells = options.lkp ? values.map((value) => value ?? 0) : values;
    lines.push(`  ${JSON.stringify(metric)}: ${JSON.stringify(cells)}`);
  }
  return `{\n${lines.join(',\n')}\n}\n`;
}
