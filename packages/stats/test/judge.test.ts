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

function verdicts(deltas: Delta[]): Record<string, string> {
  return Object.fromEntries(deltas.map((delta) => [delta.metric, delta.verdict]).sort());
}

describe('properties', () => {
  it('swapping the kernels mirrors every delta', () => {
    fc.assert(
      fc.property(rows, (values) => {
        const forth = compare(split(values, 0), split(values, 3));
        const back = compare(split(values, 3), split(values, 0));
        expect(verdicts(back.deltas)).toEqual(verdicts(forth.deltas));
      }),
      { numRuns: 50 },
    );
  });

  it('scaling a metric by a power of two changes no verdict', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: -8, max: 8 }), (values, power) => {
        const plain = compare(split(values, 0), split(values, 3));
        const scaled = compare(split(values, 0, 2 ** power), split(values, 3, 2 ** power));
        expect(verdicts(scaled.deltas)).toEqual(verdicts(plain.deltas));
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
      fc.property(rows, (values) => {
        const holed = Object.fromEntries(Object.entries(split(values, 0)).map(([k, row]) => [k, [...row, Number.NaN]]));
        const plain = compare(split(values, 0), split(values, 3));
        expect(verdicts(compare(holed, split(values, 3)).deltas)).toEqual(verdicts(plain.deltas));
      }),
      { numRuns: 50 },
    );
  });
});
