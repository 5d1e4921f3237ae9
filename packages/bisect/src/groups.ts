import { isAncestor, type RangeGraph } from './graph.ts';

/**
 * Groups of candidates that no testable commit tells apart: two belong together when the same testable commits have
 * them as ancestors. An untestable commit whose nearest testable descendant is t alone belongs with t; one with several
 * (a branch point) belongs with those that have the same several. Returns a group number per commit.
 */
export function inseparableGroups(graph: RangeGraph, untestable: ReadonlySet<number>): Int32Array {
  const groupOf = Int32Array.from({ length: graph.size }, (_, i) => i);
  if (untestable.size === 0) return groupOf;
  const children: number[][] = Array.from({ length: graph.size }, () => []);
  for (let i = 0; i < graph.size; i++) for (const p of graph.parents[i]!) children[p]!.push(i);
  const nearest = new Map<number, number[]>();
  const byKey = new Map<string, number>();
  for (let b = graph.size - 1; b >= 0; b--) {
    if (!untestable.has(b)) continue;
    const found = new Set<number>();
    for (const c of children[b]!) {
      if (untestable.has(c)) for (const t of nearest.get(c) ?? []) found.add(t);
      else found.add(c);
    }
    const list = [...found].sort((x, y) => x - y);
    const minimal = list.filter((t) => !list.some((other) => other !== t && isAncestor(graph, other, t)));
    nearest.set(b, minimal);
    if (minimal.length === 1) {
      groupOf[b] = minimal[0]!;
      continue;
    }
    const key = minimal.join(',');
    const first = byKey.get(key);
    if (first === undefined) byKey.set(key, b);
    groupOf[b] = first ?? b;
  }
  return groupOf;
}
