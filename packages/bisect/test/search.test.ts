import { describe, expect, test } from 'vitest';
import {
  createSearch,
  likelyNext,
  next,
  observe,
  posterior,
  record,
  replay,
  type SearchInput,
  setBudget,
  untestable,
} from '../src/index.ts';

/** c1 … cN in a line on top of `good`; cN is bad. */
function line(n: number, more: Partial<SearchInput> = {}): SearchInput {
  const commits = Array.from({ length: n }, (_, i) => ({ sha: `c${i + 1}`, parents: [i === 0 ? 'good' : `c${i}`] }));
  return { commits, good: 'good', bad: `c${n}`, ...more };
}

/** Runs a search against levels that step at `culprit`; returns the end and the number of boots. */
function runToEnd(input: SearchInput, value: (sha: string) => number, broken: string[] = []) {
  const search = createSearch(input);
  let boots = 0;
  for (let steps = 0; steps < 500; steps++) {
    const step = next(search);
    if (step.kind === 'done' || step.kind === 'refused') return { step, boots, search };
    for (const probe of step.probes) {
      if (broken.includes(probe.sha)) {
        untestable(search, probe.sha);
        continue;
      }
      boots += probe.boots;
      const values = Array.from({ length: probe.boots }, () => value(probe.sha));
      observe(search, { sha: probe.sha, values, verify: step.kind === 'verify' });
    }
  }
  throw new Error('the search did not end');
}

const number = (sha: string) => (sha === 'good' ? 0 : Number(sha.slice(1)));
/** A repeatable wobble of ±1 unit around the level. */
function wobble(unit: number) {
  let k = 0;
  return () => unit * Math.sin(12.9898 * ++k * k);
}

describe('what will be booted next', () => {
  const noise = { sd: 0.0005, df: 20 };
  test('the middle of the range while the ends are booted, then the quarters while the middle is', () => {
    const search = createSearch(line(16, { noise, verify: false }));
    const ends = next(search);
    if (ends.kind !== 'confirm-ends') throw new Error(ends.kind);
    const middle = likelyNext(search, ends.probes);
    expect(middle).toEqual(['c8']);
    observe(search, { sha: 'good', values: [100, 100.01, 99.99] });
    observe(search, { sha: 'c16', values: [90, 90.01, 89.99] });
    const probe = next(search);
    if (probe.kind !== 'probe') throw new Error(probe.kind);
    expect(probe.probes.map((p) => p.sha)).toEqual(middle);
    expect(likelyNext(search, probe.probes).sort()).toEqual(['c12', 'c4']);
    expect(likelyNext(search, probe.probes, { built: new Set(['c4']) })).toEqual(['c12']);
    // Asking changes nothing.
    expect(next(search)).toEqual(probe);
  });

  test('whatever the boot shows, the commit that follows is among them', () => {
    for (const level of [100, 90]) {
      const search = createSearch(line(64, { noise, verify: false }));
      observe(search, { sha: 'good', values: [100, 100.01, 99.99] });
      observe(search, { sha: 'c64', values: [90, 90.01, 89.99] });
      for (let i = 0; i < 3; i++) {
        const step = next(search);
        if (step.kind !== 'probe') throw new Error(step.kind);
        const likely = likelyNext(search, step.probes);
        observe(search, { sha: step.probes[0]!.sha, values: [level] });
        const after = next(search);
        if (after.kind !== 'probe') throw new Error(after.kind);
        expect(likely).toContain(after.probes[0]!.sha);
      }
    }
  });
});

describe('a search on a line', () => {
  test('a deterministic host finds one of twelve commits with one boot per probe', () => {
    const noise = wobble(0.05);
    const input = line(12, { noise: { sd: 0.0005, df: 20 }, verify: false });
    const search = createSearch(input);
    const level = (sha: string) => (number(sha) >= 8 ? 97 : 100) + noise();
    observe(search, { sha: 'good', values: [level('good'), level('good'), level('good')], stored: true });
    observe(search, { sha: 'c12', values: [level('c12'), level('c12'), level('c12')], stored: true });
    let boots = 0;
    let step = next(search);
    while (step.kind === 'probe') {
      for (const p of step.probes) observe(search, { sha: p.sha, values: [level(p.sha)] });
      boots++;
      step = next(search);
    }
    expect(step).toMatchObject({ kind: 'done', culprit: 'c8' });
    expect(boots).toBeLessThanOrEqual(4); // ⌈log₂ 12⌉
  });

  test('the step is reported with its size and an interval around it', () => {
    const noise = wobble(1);
    const { step } = runToEnd(line(30), (sha) => (number(sha) >= 17 ? 90 : 100) + noise());
    expect(step).toMatchObject({ kind: 'done', culprit: 'c17', verified: true });
    if (step.kind !== 'done') return;
    expect(step.step!.ci95[0]).toBeLessThan(-10);
    expect(step.step!.ci95[1]).toBeGreaterThan(-10.5);
  });

  test('ends that show no step are refused, with what they show', () => {
    const noise = wobble(1);
    const { step } = runToEnd(line(30, { budget: 60 }), () => 100 + noise());
    expect(step.kind).toBe('refused');
    if (step.kind === 'refused') expect(step.reason).toMatch(/the ends differ by .* % ± .* %/);
  });

  test('untestable commits stay in the answer', () => {
    const noise = wobble(0.2);
    const broken = ['c9', 'c10', 'c11'];
    const { step } = runToEnd(line(30), (sha) => (number(sha) >= 10 ? 90 : 100) + noise(), broken);
    expect(step).toMatchObject({ kind: 'done', culprit: null });
    if (step.kind === 'done') expect(step.credible.map((c) => c.sha).sort()).toEqual(['c10', 'c11', 'c12', 'c9']);
  });

  test('a flaky test is bisected by its share of failures', () => {
    let k = 0;
    const { step } = runToEnd(line(100, { kind: 'binary' }), (sha) => (number(sha) >= 41 && ++k % 4 !== 0 ? 1 : 0));
    expect(step).toMatchObject({ kind: 'done', culprit: 'c41' });
  });
});

describe('a search as data', () => {
  test('replaying the record gives the same posterior and the same next step', () => {
    const noise = wobble(1);
    const search = createSearch(line(64));
    for (let i = 0; i < 9; i++) {
      const step = next(search);
      if (step.kind === 'done' || step.kind === 'refused') break;
      for (const p of step.probes)
        observe(search, {
          sha: p.sha,
          values: Array.from({ length: p.boots }, () => (number(p.sha) >= 20 ? 95 : 100) + noise()),
        });
    }
    const again = replay(JSON.parse(JSON.stringify(record(search))));
    expect([...posterior(again)]).toEqual([...posterior(search)]);
    expect(next(again)).toEqual(next(search));
  });

  test('a commit outside the range is named in the error', () => {
    const search = createSearch(line(4));
    expect(() => observe(search, { sha: 'elsewhere', values: [1] })).toThrow(/elsewhere/);
    expect(() => observe(search, { sha: 'c2', values: [Number.NaN] })).toThrow(/finite/);
  });
});

describe('a search on a graph', () => {
  test('a culprit on a side branch is found among commits of both sides', () => {
    // good – m1 … m8 – merge – bad, with s1 … s8 forked from m1 and merged by `merge`
    const commits = [
      ...Array.from({ length: 8 }, (_, i) => ({ sha: `m${i + 1}`, parents: [i === 0 ? 'good' : `m${i}`] })),
      ...Array.from({ length: 8 }, (_, i) => ({ sha: `s${i + 1}`, parents: [i === 0 ? 'm1' : `s${i}`] })),
      { sha: 'merge', parents: ['m8', 's8'] },
      { sha: 'bad', parents: ['merge'] },
    ];
    const slow = new Set(['s5', 's6', 's7', 's8', 'merge', 'bad']);
    const noise = wobble(0.5);
    const { step } = runToEnd({ commits, good: 'good', bad: 'bad' }, (sha) => (slow.has(sha) ? 110 : 100) + noise());
    expect(step).toMatchObject({ kind: 'done', culprit: 's5' });
  });
});

test('a level that few boots show is booted again before the search goes on there', () => {
  const search = createSearch(line(64, { verify: false }));
  const noise = wobble(1);
  const boots = (n: number, level: number) => Array.from({ length: n }, () => level + noise());
  observe(search, { sha: 'good', values: boots(5, 1000) });
  observe(search, { sha: 'c64', values: boots(5, 1002) });
  observe(search, { sha: 'c8', values: boots(20, 1002) });
  const before = next(search);
  if (before.kind !== 'probe') throw new Error(before.kind);
  observe(search, { sha: 'c8', values: boots(60, 1002) });
  const step = next(search);
  // 85 boots at the new level, 5 at the old one.
  expect(step).toMatchObject({ kind: 'confirm-ends', probes: [{ sha: 'good', boots: 1 }] });
});

test('a kernel between both levels is not booted on and on: the ends are, until their levels are as well known', () => {
  const search = createSearch(line(2, { verify: false }));
  const boots = (n: number, level: number) => Array.from({ length: n }, (_, i) => level + (i % 2 === 0 ? 1 : -1));
  observe(search, { sha: 'good', values: boots(6, 1000) });
  observe(search, { sha: 'c2', values: boots(6, 1002) });
  observe(search, { sha: 'c1', values: boots(4, 1001) });
  expect(next(search)).toMatchObject({ kind: 'probe', probes: [{ sha: 'c1' }] });
  observe(search, { sha: 'c1', values: boots(8, 1001) });
  // 12 boots at c1, 6 at each end: its mean is better known than the levels it is judged by.
  expect(next(search)).toMatchObject({ kind: 'confirm-ends', probes: [{ boots: 1 }] });
});

test('a search whose budget ends undecided says how many more boots could tell, and with them it does', () => {
  const noise = wobble(2);
  const search = createSearch(line(200, { verify: false, budget: 20 }));
  const value = (sha: string) => (number(sha) >= 130 ? 1005 : 1000) + noise();
  const toEnd = () => {
    for (;;) {
      const step = next(search);
      if (step.kind === 'done' || step.kind === 'refused') return step;
      for (const { sha, boots } of step.probes)
        observe(search, { sha, values: Array.from({ length: boots }, () => value(sha)) });
    }
  };
  const undecided = toEnd();
  expect(undecided).toMatchObject({ kind: 'done', culprit: null });
  const more = Number(/about (\d+) more boots could tell/.exec(undecided.reason)?.[1]);
  setBudget(search, 20 + more);
  expect(toEnd()).toMatchObject({ kind: 'done', culprit: 'c130' });
});
