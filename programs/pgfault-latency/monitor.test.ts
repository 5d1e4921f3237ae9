import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ministat } from '@kdelta/stats';
import { describe, expect, it } from 'vitest';

const BOUNDS = '600,1200,2400';
/** On this machine, where nothing is installed as far as it can see; none of these gets as far as a probe. */
function monitor(env: Record<string, string>) {
  const all = {
    PATH: '/nonexistent',
    LC_ALL: 'C',
    KD_TMP: tmpdir(),
    method: 'auto',
    bounds: BOUNDS,
    cgroup: '',
    interval: '1',
  };
  const options = { encoding: 'utf8', env: { ...all, ...env }, timeout: 10_000 } as const;
  const { status, stdout } = spawnSync('/bin/sh', [join(import.meta.dirname, 'monitor')], options);
  return { status, stdout };
}

describe('what can’t be counted is said, and fails nothing', () => {
  it.each([
    [{ method: 'bpftrace' }, '# not available: bpftrace is not installed\n'],
    [
      { cgroup: 'a' },
      '# not bpftrace: bpftrace is not installed\n# not available: a histogram of one cgroup needs bpftrace and a kernel with BTF\n',
    ],
    [{ bounds: '600,600' }, '# not available: bounds must ascend, and 600 follows 600\n'],
    [{ bounds: '600,' }, '# not available: the bounds 600, aren’t numbers with commas between them\n'],
    [{ bounds: '6x' }, '# not available: the bounds 6x aren’t numbers with commas between them\n'],
    [{ bounds: '0600' }, '# not available: the bounds 0600 aren’t numbers with commas between them\n'],
    [{ bounds: Array.from({ length: 33 }, (_, i) => i + 1).join(',') }, '# not available: at most 32 bounds\n'],
  ])('%j', (env, said) => {
    expect(monitor(env)).toEqual({ status: 0, stdout: said.replaceAll('’', "'") });
  });
});

describe('what was recorded of its cost', () => {
  /** pft's rates without the monitor, and in a state of it. */
  const against = (host: string, state: string) => {
    const lines = readFileSync(join(import.meta.dirname, 'test', `overhead-${host}`), 'utf8').split('\n');
    const of = (name: string) => ({
      name,
      values: lines.filter((line) => line.startsWith(`${name} `)).map((line) => Number(line.split(' ')[1])),
    });
    const [comparison] = ministat([of('none'), of(state)]).comparisons;
    return comparison!;
  };

  it('off, pft with the monitor is no slower than without it that ministat could tell (icount, ftrace)', () => {
    const { significant, pct_halfwidth } = against('icount', 'ftrace-paused');
    expect(significant).toBe(false);
    // And it could have told one percent.
    expect(pct_halfwidth!).toBeLessThan(1);
  });

  it.each([
    ['icount', 'bpftrace', -24.3, 0.7],
    ['icount', 'bpftrace-paused', -7.0, 0.7],
    ['icount', 'ftrace', -41.5, 0.4],
    ['tcg', 'bpftrace', -47.0, 24.5],
    ['tcg', 'ftrace', -50.1, 28.4],
  ])('on %s with %s it is slower by %d ± %d percent', (host, state, pct, halfwidth) => {
    const told = against(host, state);
    expect(told.significant).toBe(true);
    expect(told.pct!).toBeCloseTo(pct, 1);
    expect(told.pct_halfwidth!).toBeCloseTo(halfwidth, 1);
  });
});
