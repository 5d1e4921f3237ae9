import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flipEvidence } from '../src/flips.ts';
import { buildGraph, isAncestor, massBelow } from '../src/graph.ts';
import { inseparableGroups } from '../src/groups.ts';
import type { CommitNode } from '../src/types.ts';

/** Random histories: each commit has one or two earlier parents; the last one reaches all. */
const histories = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.boolean()), { minLength: 1, maxLength: 24 }).map((rows) => {
  const commits: CommitNode[] = rows.map(([a, b, merge], i) => {
    const parents = [a % (i + 1), ...(merge ? [b % (i + 1)] : [])].map((p) => (p === 0 ? 'good' : `c${p}`));
    return { sha: `c${i + 1}`, parents };
  });
  commits.push({ sha: 'bad', parents: commits.map((c) => c.sha) });
  return commits;
});

/** Ancestors and itself, by walking. */
function ancestors(commits: CommitNode[], sha: string): Set<string> {
  const parents = new Map(commits.map((c) => [c.sha, c.parents]));
  const seen = new Set<string>();
  const walk = (s: string) => {
    if (seen.has(s) || !parents.has(s)) return;
    seen.add(s);
    parents.get(s)!.forEach(walk);
  };
  walk(sha);
  return seen;
}

describe('the graph of a range', () => {
  test('ancestry and masses equal those found by walking', () => {
    fc.assert(
      fc.property(histories, (commits) => {
        const graph = buildGraph(commits, 'good', 'bad');
        const mass = Float64Array.from({ length: graph.size }, (_, i) => i + 1);
        const below = massBelow(graph, mass);
        graph.shas.forEach((sha, t) => {
          const walked = ancestors(commits, sha);
          graph.shas.forEach((b, i) => {
            expect(isAncestor(graph, i, t)).toBe(walked.has(b));
          });
          const sum = graph.shas.reduce((s, b, i) => s + (walked.has(b) ? mass[i]! : 0), 0);
          expect(below[t]).toBeCloseTo(sum, 9);
        });
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  test('untestable commits are grouped exactly when the same testable commits contain them', () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(), { maxLength: 12 }), (commits, broken) => {
        const graph = buildGraph(commits, 'good', 'bad');
        const untestable = new Set(broken.map((b) => b % graph.size).filter((b) => b < graph.size - 1));
        const groups = inseparableGroups(graph, untestable);
        const signature = (b: number) =>
          graph.shas.map((_, t) => (untestable.has(t) ? '' : isAncestor(graph, b, t) ? '1' : '0')).join('');
        for (let a = 0; a < graph.size; a++)
          for (let b = 0; b < a; b++) expect(groups[a] === groups[b]).toBe(signature(a) === signature(b));
      }),
      { numRuns: 60, seed: 2 },
    );
  });
});

test('the evidence of binary outcomes equals the Beta integrals', () => {
  // good: 0 of 1 bad, bad end: 1 of 1. Old share: 0.6 Beta(½,100) + 0.4 Beta(1,4): P(good) = 0.6·100/100.5 + 0.4·4/5
  // New share: 0.6 Beta(100,½) + 0.4 Beta(1,1): P(bad) = 0.6·100/100.5 + 0.4·1/2
  const runs = Float64Array.of(1, 1);
  const bad = Float64Array.of(0, 1);
  const { classes } = flipEvidence({ runs, bad }, Uint8Array.of(0, 1), [1]);
  const expected = Math.log((60 / 100.5 + 0.32) * (60 / 100.5 + 0.2));
  expect(classes[0]).toBeCloseTo(expected, 9);
});
