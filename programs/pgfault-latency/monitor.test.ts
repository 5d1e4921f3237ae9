import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
