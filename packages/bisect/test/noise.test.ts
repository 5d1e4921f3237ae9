import { describe, expect, test } from 'vitest';
import { createSearch, type Next, next, observe, posterior, type SearchInput, showsOldLevel } from '../src/index.ts';

function line(n: number, more: Partial<SearchInput> = {}): SearchInput {
  const commits = Array.from({ length: n }, (_, i) => ({ sha: `c${i + 1}`, parents: [i === 0 ? 'good' : `c${i}`] }));
  return { commits, good: 'good', bad: `c${n}`, ...more };
}

const number = (sha: string) => (sha === 'good' ? 0 : Number(sha.slice(1)));

/** Repeatable Gaussian numbers (mulberry32, Box–Muller). */
function gaussian(seed: number) {
  let a = seed;
  const uniform = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

function runToEnd(input: SearchInput, boot: (sha: string, k: number) => number) {
  const search = createSearch(input);
  for (let k = 0; ; ) {
    const step = next(search);
    if (step.kind === 'done' || step.kind === 'refused')
      return { step: step as Extract<Next, { kind: 'done' }>, boots: k };
    for (const p of step.probes) {
      const values = Array.from({ length: p.boots }, () => boot(p.sha, k++));
      observe(search, { sha: p.sha, values, verify: step.kind === 'verify' });
    }
  }
}

describe('hostile noise', () => {
  test('every twentieth boot ten deviations off does not move the answer', () => {
    const z = gaussian(5);
    const { step, boots } = runToEnd(line(200), (sha, k) => {
      const wild = k % 20 === 11 ? (k % 40 === 11 ? 10 : -10) : 0;
      return 1000 + 10 * ((number(sha) >= 77 ? 3 : 0) + z() + wild);
    });
    expect(step).toMatchObject({ kind: 'done', culprit: 'c77' });
    expect(boots).toBeLessThan(80);
  });

  test('a host that drifts by six deviations during the search does not move the answer', () => {
    const z = gaussian(8);
    const { step } = runToEnd(
      line(200),
      (sha, k) => 1000 + 10 * ((number(sha) >= 120 ? 3 : 0) + z() + 0.1 * Math.min(k, 60)),
    );
    expect(step).toMatchObject({ kind: 'done', culprit: 'c120' });
  });

  test('boots of an earlier session with another level inform without misleading', () => {
    const z = gaussian(3);
    const input = line(64);
    const search = createSearch(input);
    const level = (sha: string, shift: number) => 1000 + 10 * ((number(sha) >= 40 ? 4 : 0) + z() + shift);
    for (const sha of ['good', 'c64', 'good', 'c64', 'good', 'c64', 'good', 'c64'])
      observe(search, { sha, values: [level(sha, 6)], session: 'earlier', stored: true });
    for (;;) {
      const step = next(search);
      if (step.kind === 'done' || step.kind === 'refused') {
        expect(step).toMatchObject({ kind: 'done', culprit: 'c40' });
        return;
      }
      for (const p of step.probes)
        for (let i = 0; i < p.boots; i++)
          observe(search, { sha: p.sha, values: [level(p.sha, 0)], session: 'now', verify: step.kind === 'verify' });
    }
  });

  test('two steps: one is named, the other announced with a range that holds it', () => {
    const z = gaussian(2);
    const { step } = runToEnd(line(400), (sha) => {
      const steps = (number(sha) >= 90 ? 3 : 0) + (number(sha) >= 310 ? 3 : 0);
      return 1000 + 10 * (steps + z());
    });
    expect(step.kind).toBe('done');
    expect(['c90', 'c310']).toContain(step.culprit);
    const other = step.culprit === 'c90' ? 310 : 90;
    expect(number(step.second!.after)).toBeLessThan(other);
    expect(number(step.second!.upto)).toBeGreaterThanOrEqual(other);
  });
});

describe('what is known besides boots', () => {
  test('a commit with the image of its parent is not the culprit', () => {
    const identical = { c5: 'image', c6: 'image', c7: 'image' };
    const search = createSearch(line(10, { identical, noise: { sd: 0.001, df: 30 } }));
    observe(search, { sha: 'good', values: [100] });
    observe(search, { sha: 'c10', values: [110] });
    const p = posterior(search);
    expect(p.get('c6')! + p.get('c7')!).toBeLessThan(1e-5);
    expect(p.get('c5')).toBeCloseTo(p.get('c4')!, 6);
  });

  test('a commit with the image of its parent is never probed, wherever it lies', () => {
    for (let same = 1; same <= 11; same++) {
      const identical = { [`c${same}`]: 'image', [same === 1 ? 'good' : `c${same - 1}`]: 'image' };
      for (let culprit = 1; culprit <= 12; culprit++) {
        if (culprit === same) continue;
        const search = createSearch(line(12, { identical, noise: { sd: 0.001, df: 30 } }));
        for (let step = next(search); step.kind !== 'done'; step = next(search)) {
          if (step.kind === 'refused') throw new Error(step.reason);
          const probes = step.kind === 'verify' ? [step.culprit, ...step.parents].map((sha) => ({ sha })) : step.probes;
          if (step.kind === 'probe') expect(probes.map(({ sha }) => sha)).not.toContain(`c${same}`);
          for (const { sha } of probes) {
            observe(search, { sha, values: [number(sha) < culprit ? 100 : 110], verify: step.kind === 'verify' });
          }
        }
      }
    }
  });

  test('hundreds of stored boots of good ask for no boots of bad before the first probe', () => {
    const noise = gaussian(5);
    const search = createSearch(line(100));
    for (let i = 0; i < 300; i++) observe(search, { sha: 'good', values: [100 + noise()], stored: true });
    for (let i = 0; i < 6; i++) observe(search, { sha: 'c100', values: [103 + noise()], stored: true });
    expect(next(search).kind).toBe('probe');
  });

  test('a commit that touches no file of the build keeps a small chance', () => {
    const search = createSearch(line(3, { prior: { c2: 0.02 }, noise: { sd: 0.001, df: 30 } }));
    observe(search, { sha: 'good', values: [100] });
    observe(search, { sha: 'c3', values: [110] });
    const p = posterior(search);
    // 0.02 / (1 + 0.02 + 1)
    expect(p.get('c2')).toBeCloseTo(0.0099, 3);
  });

  test('a step the wrong way round is refused', () => {
    const search = createSearch(line(9, { direction: 1, noise: { sd: 0.001, df: 30 } }));
    observe(search, { sha: 'good', values: [100, 100.1] });
    observe(search, { sha: 'c9', values: [90, 90.1] });
    expect(next(search)).toMatchObject({ kind: 'refused', code: 'wrong-direction' });
  });

  test('a revert on top of bad is told by the level that it shows', () => {
    const search = createSearch(line(9, { noise: { sd: 0.001, df: 30 } }));
    observe(search, { sha: 'good', values: [100, 100.1] });
    observe(search, { sha: 'c9', values: [110, 110.1] });
    expect(showsOldLevel(search, [100.05])).toBeGreaterThan(0.99);
    expect(showsOldLevel(search, [110.05])).toBeLessThan(0.01);
  });

  test('levels that creep a little from commit to commit are not taken for a second step', () => {
    const { step } = runToEnd(line(100), (sha) => (number(sha) >= 62 ? 1050 : 1000) + number(sha) / 20);
    expect(step).toMatchObject({ kind: 'done', culprit: 'c62', second: null });
  });

  test('free hosts get the quartiles of what is left', () => {
    const search = createSearch(line(100, { noise: { sd: 0.001, df: 30 } }));
    observe(search, { sha: 'good', values: [100, 100.1] });
    observe(search, { sha: 'c100', values: [90, 90.1] });
    const step = next(search, { hosts: 3 });
    expect(step.kind === 'probe' && step.probes.map((p) => p.sha)).toEqual(['c25', 'c50', 'c75']);
  });

  test('a built kernel is taken when it tells nearly as much', () => {
    const search = createSearch(line(100, { noise: { sd: 0.001, df: 30 } }));
    observe(search, { sha: 'good', values: [100, 100.1] });
    observe(search, { sha: 'c100', values: [90, 90.1] });
    expect(next(search, { built: new Set(['c40']) })).toMatchObject({ probes: [{ sha: 'c40' }] });
    expect(next(search, { built: new Set(['c5']) })).toMatchObject({ probes: [{ sha: 'c50' }] });
  });

  test('of several metrics the one that steps decides', () => {
    const z = gaussian(4);
    const search = createSearch(line(40, { metrics: ['flat', 'steps'] }));
    const boot = (sha: string) => [500 + 5 * z(), 1000 + 10 * ((number(sha) >= 13 ? 4 : 0) + z())];
    for (;;) {
      const step = next(search);
      if (step.kind === 'done' || step.kind === 'refused') {
        expect(step).toMatchObject({ kind: 'done', culprit: 'c13' });
        return;
      }
      for (const p of step.probes)
        observe(search, {
          sha: p.sha,
          values: Array.from({ length: p.boots }, () => boot(p.sha)),
          verify: step.kind === 'verify',
        });
    }
  });
});
