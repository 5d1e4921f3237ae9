import { buildRegistry, matrixFromObject } from '@kdelta/matrix';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Delta, type JudgeInput, judge } from '../src/index.ts';
import { sharedJson } from './shared.ts';

const registry = buildRegistry();

function compare(base: Record<string, unknown>, head: Record<string, unknown>, more: Partial<JudgeInput> = {}) {
  return judge({ base: matrixFromObject(base), head: matrixFromObject(head), registry, ...more });
}

const fxmarkBase = [7415950.517791, 7363113.100274, 7412635.583085, 7422347.724252, 7442603.302947, 7367030.480747];
const fxmarkHead = [7960045.052608, 7855475.99254, 8013649.203754, 7927162.999455, 7785809.108594, 7902933.963499];

describe('inputs of reference/lkp.md section 6', () => {
  const kpi = 'fxmark.works/sec';

  it('1: fxmark rises by 6.8 %, and falls by 6.4 % the other way round', () => {
    const up = compare({ [kpi]: fxmarkBase }, { [kpi]: fxmarkHead }).deltas[0]!;
    expect([up.verdict, up.changePct!.toFixed(1)]).toEqual(['improvement', '6.8']);
    const down = compare({ [kpi]: fxmarkHead }, { [kpi]: fxmarkBase }).deltas[0]!;
    expect([down.verdict, down.changePct!.toFixed(1)]).toEqual(['regression', '-6.4']);
  });

  it('4: lines of the log and symbols of a profile are no failures', () => {
    const names = ['dmesg.timestamp:last', 'perf-profile.error_entry'];
    for (const name of names) expect(registry.lookup(name).kind).not.toBe('function');
  });

  it('one wild boot does not veto a change of a KPI', () => {
    const delta = compare({ [kpi]: [100, 100.4, 99.7, 100.2, 99.9, 100.1] }, { [kpi]: [90, 91, 90, 89, 90, 100.5] })
      .deltas[0]!;
    expect(delta.verdict).toBe('regression');
    expect(delta.flags).toContain('wild-boot');
  });

  it('missing boots are not zeros: 49 alone against 50, 51, 50 is no fall of 67.5 %', () => {
    const delta = compare({ m: [50, 51, 50] }, { m: [49, null, null] }).deltas[0]!;
    expect(delta.head).toMatchObject({ n: 1, mean: 49 });
    expect(delta.changePct).toBeCloseTo((49 / (151 / 3) - 1) * 100, 9);
  });

  it('0 of 3 against 2 of 6 failures differ by 33 points of reproduction, and prove nothing', () => {
    const delta = compare(
      { 'dmesg.x.fail': [0, 0, 0], a: [1, 2, 3] },
      { 'dmesg.x.fail': [1, 0, 0, 1, 0, 0], a: [1, 2, 3, 1, 2, 3] },
    ).deltas.find((d) => d.metric === 'dmesg.x.fail')!;
    // Fisher by hand: tables with 2 failures in 9 runs, all as likely or less: 15/36 + 3/36 = 0.5.
    expect(delta.p).toBeCloseTo(0.5, 9);
    expect([delta.verdict, Math.round(delta.changePct!)]).toEqual(['inconclusive', 33]);
  });
});

const seed = sharedJson<{ per_boot: Record<'base' | 'head', Record<string, number[]>> }>('vectors/seed-lkp.json');

describe.skipIf(!seed)('the LKP seed', () => {
  it('calls DirectMap2M bimodal or unstable and makes no verdict of it', () => {
    const name = 'meminfo.DirectMap2M';
    const delta = compare({ [name]: seed!.per_boot.base[name] }, { [name]: seed!.per_boot.head[name] }).deltas[0]!;
    expect(delta.changePct!.toFixed(1)).toBe('-12.1');
    expect(Math.round((100 * delta.base.stddev!) / delta.base.mean!)).toBe(7);
    expect(delta.flags.some((flag) => flag === 'bimodal' || flag === 'unstable')).toBe(true);
    expect(delta.verdict).toBe('inconclusive');
  });

  it('makes a regression of the throughput that fell by 3 % in steady boots', () => {
    const name = 'dbench.throughput-MB/sec';
    const around = (mean: number) => [-2, -1, 0, 1, 2].map((step) => mean + 30 * step);
    const judgement = compare({ [name]: around(25692) }, { [name]: around(24913) });
    expect(judgement.verdict).toBe('regression');
    expect(judgement.deltas[0]!.changePct!.toFixed(1)).toBe('-3.0');
  });
});

const rows = fc.array(fc.array(fc.double({ min: 50, max: 150, noNaN: true }), { minLength: 6, maxLength: 6 }), {
  minLength: 1,
  maxLength: 12,
});

function split(values: number[][], from: number, scale = 1): Record<string, number[]> {
  return Object.fromEntries(values.map((row, i) => [`m${i}`, row.slice(from, from + 3).map((v) => v * scale)]));
}

function byMetric(deltas: Delta[]): Map<string, Delta> {
  return new Map(deltas.map((delta) => [delta.metric, delta] as const).sort((a, b) => (a[0] < b[0] ? -1 : 1)));
}

const factor = (percent: number) => 1 + percent / 100;

function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-7 * Math.max(1, Math.abs(expected)));
}

describe('flags', () => {
  const kpi = 'fxmark.works/sec';
  const history = [0, 1, 2, 3].map((k) => matrixFromObject({ [kpi]: [100 + k, 100.1 + k, 99.9 + k, 100 + k] }));

  it('drift: the metric moves with time, boot by boot, and that explains the difference', () => {
    // One straight line over ten boots, with a scatter of its hundredth part.
    const at = (i: number) => 100 + 2 * i + (i % 2 ? 0.02 : -0.02);
    const times = { base: [0, 1, 2, 3, 4], head: [5, 6, 7, 8, 9] };
    const delta = compare({ [kpi]: times.base.map(at) }, { [kpi]: times.head.map(at) }, { order: times }).deltas[0]!;
    expect(delta.flags).toContain('drift');
    expect(delta.verdict).toBe('inconclusive');
  });

  it('a step between interleaved boots is no drift', () => {
    const order = { base: [0, 3, 4, 7, 8], head: [1, 2, 5, 6, 9] };
    const boots = [100, 100.2, 99.8, 100.1, 99.9];
    const delta = compare({ [kpi]: boots }, { [kpi]: boots.map((value) => value + 10) }, { order }).deltas[0]!;
    expect(delta.flags).not.toContain('drift');
    expect(delta.verdict).toBe('improvement');
  });

  it('unstable: boots scatter a hundred times more than history does, and no verdict comes of it', () => {
    const delta = compare({ [kpi]: [90, 100, 110, 95, 105] }, { [kpi]: [60, 70, 80, 65, 75] }, { history }).deltas[0]!;
    expect(delta.flags).toContain('unstable');
    expect(delta.verdict).toBe('inconclusive');
  });

  it('environment: the machine has other memory, so no KPI speaks of the commit', () => {
    const name = 'meminfo.MemTotal';
    const was = { [kpi]: [100, 100.1, 99.9], [name]: [4e6, 4e6, 4e6] };
    const is = { [kpi]: [80, 80.1, 79.9], [name]: [2e6, 2e6, 2e6] };
    const judgement = compare(was, is);
    for (const delta of judgement.deltas) {
      expect(delta.flags).toContain('environment');
      expect(delta.verdict).toBe('inconclusive');
    }
    expect(compare(was, { ...is, [name]: was[name] }).verdict).toBe('regression');
  });

  it('no-history: told apart from a metric whose history is known', () => {
    const boots = { [kpi]: [100, 100.1, 99.9] };
    expect(compare(boots, boots).deltas[0]!.flags).toContain('no-history');
    expect(compare(boots, boots, { history }).deltas[0]!.flags).not.toContain('no-history');
  });
});

describe('boots that differ in the last digit of a double', () => {
  it('are the same number', () => {
    const [delta] = compare({ m: [50, 50, 50] }, { m: [50, 50, 50.00000000000001] }).deltas;
    expect(delta).toMatchObject({ verdict: 'same', ci95Pct: [0, 0], p: null });
  });
});

describe('properties', () => {
  it('swapping the kernels mirrors every delta', () => {
    fc.assert(
      fc.property(rows, (values) => {
        // When the boots ran goes with them: `drift` is about time.
        const [first, last] = [
          [0, 1, 2],
          [3, 4, 5],
        ] as [number[], number[]];
        const order = { base: first, head: last };
        const turned = { base: last, head: first };
        const forth = byMetric(compare(split(values, 0), split(values, 3), { order }).deltas);
        const back = byMetric(compare(split(values, 3), split(values, 0), { order: turned }).deltas);
        expect([...back.keys()]).toEqual([...forth.keys()]);
        for (const [metric, there] of forth) {
          const here = back.get(metric)!;
          expect(here.verdict).toBe(there.verdict);
          expect(here.flags).toEqual(there.flags);
          expect([here.base, here.head]).toEqual([there.head, there.base]);
          near(here.changeAbs!, -there.changeAbs!);
          // A change by x % one way is one by 1/(1 + x/100) the other way; so are the ends of its interval, turned.
          near(factor(here.changePct!), 1 / factor(there.changePct!));
          near(factor(here.ci95Pct![0]), 1 / factor(there.ci95Pct![1]));
          near(factor(here.ci95Pct![1]), 1 / factor(there.ci95Pct![0]));
          near(here.p!, there.p!);
          near(here.q!, there.q!);
          near(here.detectablePct!, there.detectablePct!);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('a rise that is better one way is a fall that is worse the other way', () => {
    const kpi = 'fxmark.works/sec';
    fc.assert(
      fc.property(fc.double({ min: 1.1, max: 3, noNaN: true }), (rise) => {
        const slow = { [kpi]: [100, 100.5, 99.5] };
        const fast = { [kpi]: slow[kpi]!.map((value) => value * rise) };
        expect(compare(slow, fast).deltas[0]!.verdict).toBe('improvement');
        expect(compare(fast, slow).deltas[0]!.verdict).toBe('regression');
      }),
      { numRuns: 25 },
    );
  });

  it('scaling one metric by a power of two changes no verdict and no number of the change', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: -8, max: 8 }), fc.nat(), (values, power, pick) => {
        const scaledRow = pick % values.length;
        const scale = (row: number[], i: number) => (i === scaledRow ? row.map((value) => value * 2 ** power) : row);
        const plain = byMetric(compare(split(values, 0), split(values, 3)).deltas);
        const turned = values.map(scale);
        const scaled = byMetric(compare(split(turned, 0), split(turned, 3)).deltas);
        for (const [metric, delta] of plain) {
          const { verdict, changePct, ci95Pct, p, q, detectablePct, flags } = scaled.get(metric)!;
          const want = delta;
          expect([verdict, flags]).toEqual([want.verdict, want.flags]);
          near(changePct!, want.changePct!);
          near(ci95Pct![0], want.ci95Pct![0]);
          near(p!, want.p!);
          near(q!, want.q!);
          near(detectablePct!, want.detectablePct!);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('judging again gives the same bytes, in whatever order the metrics come', () => {
    fc.assert(
      fc.property(rows, (values) => {
        const turned = (object: Record<string, number[]>) => Object.fromEntries(Object.entries(object).reverse());
        const one = compare(split(values, 0), split(values, 3));
        const other = compare(turned(split(values, 0)), turned(split(values, 3)));
        expect(JSON.stringify(other)).toBe(JSON.stringify(one));
      }),
      { numRuns: 50 },
    );
  });

  it('a boot without any value changes nothing', () => {
    fc.assert(
      fc.property(rows, fc.nat(3), (values, at) => {
        const holed = (from: number, at: number) =>
          Object.fromEntries(
            Object.entries(split(values, from)).map(([k, row]) => [k, row.toSpliced(at, 0, Number.NaN)]),
          );
        const plain = compare(split(values, 0), split(values, 3));
        const other = compare(holed(0, at), holed(3, at));
        const bare = (deltas: Delta[]) =>
          deltas.map(({ base, head, ...rest }) => ({
            ...rest,
            base: { ...base, values: [] },
            head: { ...head, values: [] },
          }));
        expect(bare(other.deltas)).toEqual(bare(plain.deltas));
        expect(other.verdict).toBe(plain.verdict);
      }),
      { numRuns: 50 },
    );
  });
});
