import { BisectError } from './errors.ts';
import type { CommitNode, Sha } from './types.ts';

/**
 * The commits of `good..bad` in topological order (parents first; `bad` is last) with their ancestry as a bit matrix.
 * A probe at t is "new" for candidate b when b is t or an ancestor of t.
 */
export interface RangeGraph {
  shas: Sha[];
  index: Map<Sha, number>;
  /** Parents within the range. */
  parents: number[][];
  size: number;
  words: number;
  /** Row t holds the ancestors of t and t itself: `size` rows of `words` 32-bit words. */
  ancestry: Uint32Array;
  /** Of a merge: the ancestors that its first parent doesn't have. Empty for others. */
  mergedIn: Int32Array[];
}

/** Builds the graph. Throws KD_BISECT_UNKNOWN_COMMIT when bad is missing, KD_BISECT_NOT_A_GRAPH on a cycle. */
export function buildGraph(commits: CommitNode[], good: Sha, bad: Sha): RangeGraph {
  const nodes = new Map<Sha, CommitNode>();
  for (const c of commits) if (c.sha !== good) nodes.set(c.sha, c);
  if (!nodes.has(bad))
    throw new BisectError('KD_BISECT_UNKNOWN_COMMIT', `bad commit ${bad} is not among the commits of the range`);
  const shas = topologicalOrder(nodes, bad);
  const index = new Map(shas.map((sha, i) => [sha, i]));
  const parents = shas.map((sha) =>
    [...new Set(nodes.get(sha)!.parents)].map((p) => index.get(p)).filter((i): i is number => i !== undefined),
  );
  const size = shas.length;
  const words = (size + 31) >>> 5;
  const ancestry = new Uint32Array(size * words);
  const mergedIn: Int32Array[] = [];
  for (let i = 0; i < size; i++) {
    const row = i * words;
    ancestry[row + (i >>> 5)]! |= 1 << (i & 31);
    const extra: number[] = [];
    parents[i]!.forEach((p, nth) => {
      const from = p * words;
      for (let w = 0; w <= p >>> 5; w++) {
        let fresh = (ancestry[from + w]! & ~ancestry[row + w]!) >>> 0;
        ancestry[row + w]! |= fresh;
        if (nth === 0) continue;
        while (fresh !== 0) {
          const bit = 31 - Math.clz32(fresh);
          extra.push(w * 32 + bit);
          fresh = (fresh & ~(1 << bit)) >>> 0;
        }
      }
    });
    mergedIn.push(Int32Array.from(extra));
  }
  return { shas, index, parents, size, words, ancestry, mergedIn };
}

/** Whether candidate b is t or an ancestor of t. */
export function isAncestor(graph: RangeGraph, b: number, t: number): boolean {
  return ((graph.ancestry[t * graph.words + (b >>> 5)]! >>> (b & 31)) & 1) === 1;
}

/** For every commit c the mass of its ancestors and itself: the probability that a boot of c shows the new level. */
export function massBelow(graph: RangeGraph, mass: ArrayLike<number>): Float64Array {
  const below = new Float64Array(graph.size);
  for (let i = 0; i < graph.size; i++) {
    const first = graph.parents[i]![0];
    let sum = mass[i]! + (first === undefined ? 0 : below[first]!);
    for (const b of graph.mergedIn[i]!) sum += mass[b]!;
    below[i] = sum;
  }
  return below;
}

/** Parents first, depth first from bad along first parents, so that a topic branch stays together. */
function topologicalOrder(nodes: Map<Sha, CommitNode>, bad: Sha): Sha[] {
  const order: Sha[] = [];
  const state = new Map<Sha, 'open' | 'done'>();
  const stack: { sha: Sha; next: number }[] = [{ sha: bad, next: 0 }];
  state.set(bad, 'open');
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!;
    const parent = nodes.get(top.sha)!.parents[top.next++];
    if (parent === undefined) {
      state.set(top.sha, 'done');
      order.push(top.sha);
      stack.pop();
      continue;
    }
    if (!nodes.has(parent)) continue;
    const seen = state.get(parent);
    if (seen === 'open') throw new BisectError('KD_BISECT_NOT_A_GRAPH', `commit ${parent} is its own ancestor`);
    if (seen === undefined) {
      state.set(parent, 'open');
      stack.push({ sha: parent, next: 0 });
    }
  }
  return order;
}
