import type { Matrix, Registry } from '@kdelta/matrix';
import type { MetricRow } from './types.ts';

/** Metrics of both matrices joined by their canonical names, in name order; one that a kernel lacks is all null. */
export function joinRows(base: Matrix, head: Matrix, registry: Registry): MetricRow[] {
  const rows = new Map<string, MetricRow>();
  const noBase = absent(base);
  const noHead = absent(head);
  for (const [metric, values] of base.metrics) {
    const key = registry.canonical(metric);
    if (rows.has(key) && key !== metric) continue;
    rows.set(key, { metric, info: registry.lookup(metric), base: values, head: noHead });
  }
  for (const [metric, values] of head.metrics) {
    const key = registry.canonical(metric);
    const row = rows.get(key);
    if (row) {
      if (head.metrics.has(row.metric) && row.metric !== metric) continue;
      row.head = values;
      row.metric = metric;
    } else {
      rows.set(key, { metric, info: registry.lookup(metric), base: noBase, head: values });
    }
  }
  return [...rows.values()].sort((a, b) => (a.metric < b.metric ? -1 : 1));
}

/** Per matrix: canonical name → values. */
export function byCanonicalName(matrix: Matrix, registry: Registry): Map<string, (number | null)[]> {
  const values = new Map<string, (number | null)[]>();
  for (const [metric, row] of matrix.metrics) values.set(registry.canonical(metric), row);
  return values;
}

function absent(matrix: Matrix): null[] {
  return new Array(matrix.boots.length).fill(null);
}
