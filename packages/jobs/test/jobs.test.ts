import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  expandJob,
  type HostFile,
  InputError,
  needsScratchDisk,
  type ProgramMeta,
  packagesOf,
  parseConfig,
  parseHost,
  parseJob,
  withVersions,
} from '../src/index.ts';

const meta = (name: string, type: ProgramMeta['type'], rest: Partial<ProgramMeta> = {}): ProgramMeta => ({
  name,
  type,
  packages: [],
  params: {},
  metrics: {},
  required: [],
  dir: `programs/${name}`,
  ...rest,
});
const programs = new Map(
  [
    meta('dbench', 'benchmark', {
      params: { nr_threads: { percentOf: 'nr_cpu', kind: 'int' }, runtime: { kind: 'seconds', default: '60' } },
    }),
    meta('pft', 'benchmark', { params: { size: { percentOf: 'memory', kind: 'size' } } }),
    meta('cpufreq_governor', 'setup', { params: { cpufreq_governor: { values: ['performance', 'powersave'] } } }),
    meta('disk', 'setup', { params: { disk: { values: ['ext4', 'xfs'] } }, needs: ['scratch_disk'] }),
    meta('contest', 'benchmark', { packages: ['make'], params: { source: { packages: { big: ['bc', 'make'] } } } }),
    meta('vmstat', 'monitor', { default: true, params: { interval: { kind: 'seconds', default: '1' } } }),
    meta('perf-stat', 'monitor', {}),
  ].map((m) => [m.name, m]),
);
const ivb44 = parseHost(
  readFileSync(new URL('../../../hosts/ivb44.yaml', import.meta.url), 'utf8'),
  'hosts/ivb44.yaml',
);

function errorOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  return 'no error';
}
const job = (text: string) => parseJob(text, 'jobs/x.yaml', programs);

describe('job files', () => {
  it('expand the cartesian product of the lists among declared parameters', () => {
    const [file] = job(
      'testcase: dbench\nnr_threads: [50%, 100%]\nruntime: [10s, 1m]\ncpufreq_governor: performance\ndbench:\n',
    );
    const cases = expandJob(file!, ivb44, programs);
    expect(cases.map((c) => c.name)).toEqual([
      'dbench-performance-50%-10s',
      'dbench-performance-50%-1m',
      'dbench-performance-100%-10s',
      'dbench-performance-100%-1m',
    ]);
    // 50 % of 48 CPUs, and LKP's units
    expect(cases[1]!.run.env).toMatchObject({ nr_threads: '24', runtime: '60', nr_cpu: '48' });
    expect(cases[0]!.setups).toEqual([
      {
        name: 'cpufreq_governor',
        env: { cpufreq_governor: 'performance', nr_cpu: '48', nr_node: '2', memory: '68719476736' },
      },
    ]);
    expect(cases[0]!.params).toEqual({ nr_threads: '50%', runtime: '10s', cpufreq_governor: 'performance' });
  });

  it('cut a percentage of the CPUs to an integer, and of memory to bytes', () => {
    const three = { ...ivb44, nrCpu: 3 };
    expect(expandJob(job('nr_threads: 50%\ndbench:')[0]!, three, programs)[0]!.run.env.nr_threads).toBe('1');
    expect(expandJob(job('pft: {size: 25%}')[0]!, ivb44, programs)[0]!.run.env.size).toBe(String(16 * 2 ** 30));
  });

  it('refuse a percentage that comes to nothing on a host', () => {
    const one = { ...ivb44, nrCpu: 1 };
    expect(errorOf(() => expandJob(job('nr_threads: 50%\ndbench:')[0]!, one, programs))).toMatch(
      /50% of 1 CPUs .* nothing/,
    );
  });

  it('with a disk of their own are for hosts that have one, and refused elsewhere before a boot', () => {
    const guest = (text: string) => parseHost(`boot: {method: qemu}\n${text}`, 'hosts/g.yaml');
    const withDisk = (host: HostFile) => expandJob(job('disk: ext4\ndbench:')[0]!, host, programs)[0]!;
    expect(withDisk(guest('scratch_disk: 2G')).setups[0]!.env).toMatchObject({ scratch_disk: 'serial:scratch-2048M' });
    expect(needsScratchDisk(withDisk(guest('scratch_disk: 2G')))).toBe(true);
    expect(needsScratchDisk(expandJob(job('dbench:')[0]!, guest('scratch_disk: 2G'), programs)[0]!)).toBe(false);
    // Another size is another testcase.
    expect(withDisk(guest('scratch_disk: 4G')).key).not.toBe(withDisk(guest('scratch_disk: 2G')).key);
    expect(withDisk({ ...ivb44, scratchDisk: { device: '/dev/sdb' } }).setups[0]!.env.scratch_disk).toBe('/dev/sdb');
    expect(errorOf(() => withDisk(guest('')))).toMatch(/disk: needs a disk .* g has none; name one in hosts\/g\.yaml/);
  });

  it('run on hosts whose files may say how far rebuilds lie apart, benchmark by benchmark', () => {
    const host = parseHost('boot: {method: qemu}\nrebuild_spread_pct: {pft: 0.03, dbench: 1}\n', 'hosts/g.yaml');
    expect(host.rebuildSpreadPct).toEqual({ pft: 0.03, dbench: 1 });
    expect(ivb44.rebuildSpreadPct).toBeUndefined();
  });

  it('bring the packages of their programs, and of the values chosen', () => {
    const packages = (text: string) => packagesOf(expandJob(job(text)[0]!, ivb44, programs)[0]!, programs);
    expect(packages('source: small\ncontest:')).toEqual(['make']);
    expect(packages('source: big\ncontest:')).toEqual(['bc', 'make']);
  });

  it('run the monitors that are on by default, those named, and not those turned off', () => {
    expect(job('dbench:\nperf-stat:\n')[0]!.monitors.map((m) => m.name)).toEqual(['perf-stat', 'vmstat']);
    expect(job('dbench:\nvmstat: false\n')[0]!.monitors).toEqual([]);
    expect(job('dbench:\nvmstat: {interval: 5}\n')[0]!.monitors).toEqual([
      { name: 'vmstat', params: { interval: '5' } },
    ]);
  });

  it('with several documents are the first alone, then the first with each of the others', () => {
    const jobs = job('dbench:\nruntime: 10s\n---\nruntime: 20s\n---\nnr_threads: 4\n');
    expect(jobs.map((j) => j.params)).toEqual([
      { runtime: ['10s'] },
      { runtime: ['20s'] },
      { runtime: ['10s'], nr_threads: ['4'] },
    ]);
  });

  it('read need_kconfig in each of its forms', () => {
    expect(job('dbench:\nneed_kconfig:\n- FOO\n- BAR: n\n')[0]!.needKconfig).toEqual({
      CONFIG_FOO: 'y',
      CONFIG_BAR: 'n',
    });
  });

  it.each([
    ['dbench:\nnr_thread: 4\n', 'jobs/x.yaml:2: nr_thread: unknown key; did you mean nr_threads?'],
    ['dbench:\n  runtime: soon\n', 'jobs/x.yaml:2: dbench.runtime: `soon` is no duration such as 30s or 5m'],
    [
      'suite: x\ntestcase: dbnch\ndbnch:\n',
      'jobs/x.yaml:3: dbnch: missing program: no folder programs/dbnch; did you mean dbench?',
    ],
    [
      'dbench:\nruntime: 50%\n',
      'jobs/x.yaml:2: runtime: `50%` of what? This parameter is no share of anything; give a plain value',
    ],
    ['dbench:\nboots: many\n', 'jobs/x.yaml:2: boots: `many` must be a number of boots'],
    [
      'dbench:\ncpufreq_governor: preformance\n',
      'jobs/x.yaml:2: cpufreq_governor: `preformance` is none of performance, powersave; did you mean performance?',
    ],
    ['dbench:\npft:\n', 'jobs/x.yaml:2: pft: a job runs one benchmark; dbench is already named'],
    ['- dbench\n', 'jobs/x.yaml:1: a job file is a map of keys: suite, testcase, category and a benchmark'],
    ['dbench:\ndbench:\n', 'jobs/x.yaml:2: dbench: is there twice; drop one'],
  ])('that are wrong are refused with file, line and key: %j', (text, message) => {
    expect(errorOf(() => job(text))).toBe(message);
  });
});

describe('testcase keys', () => {
  it('change with a parameter, the host group and a version, and with nothing else', () => {
    const key = (text: string, host = ivb44) => expandJob(job(text)[0]!, host, programs)[0]!.key;
    const plain = key('dbench:\nruntime: 10s\n');
    expect(plain).toMatch(/^[0-9a-f]{12}$/);
    expect(key('runtime: 10s\nboots: 9\ndbench:\n')).toBe(plain);
    expect(key('runtime: 11s\ndbench:\n')).not.toBe(plain);
    expect(key('runtime: 10s\ndbench:\n', { ...ivb44, tboxGroup: 'other' })).not.toBe(plain);
    const testcase = expandJob(job('dbench:\nruntime: 10s\n')[0]!, ivb44, programs)[0]!;
    expect(withVersions(testcase, { rootfs: 'a' }).key).not.toBe(withVersions(testcase, { rootfs: 'b' }).key);
  });

  it('change with a warm-up, and are as before without one', () => {
    const keyOf = (text: string) => expandJob(job(text)[0]!, ivb44, programs)[0]!.key;
    expect(keyOf('warmup: 1\ndbench:\n')).not.toBe(keyOf('dbench:\n'));
    expect(expandJob(job('warmup: 2\ndbench:\n')[0]!, ivb44, programs)[0]!.warmup).toBe(2);
    expect(errorOf(() => job('warmup: often\ndbench:\n'))).toMatch(/:1: warmup: `often` must be a number of runs/);
  });

  it('change with a monitor, so that boots with and without a profile stay apart', () => {
    const key = (text: string) => expandJob(job(text)[0]!, ivb44, programs)[0]!.key;
    expect(key('dbench:\nruntime: 10s\nperf-stat:\n')).not.toBe(key('dbench:\nruntime: 10s\n'));
  });
});

describe('host files', () => {
  it('of the LKP seed give 48 CPUs and 64 GiB, booted by kexec', () => {
    expect(ivb44).toMatchObject({
      name: 'ivb44',
      tboxGroup: 'ivb44',
      model: 'Ivytown Ivy Bridge-EP',
      nrCpu: 48,
      memory: 64 * 2 ** 30,
      boot: { method: 'kexec' },
      deterministic: false,
    });
  });

  it('with icount are deterministic', () => {
    const host = parseHost('boot: {method: qemu, accel: tcg, icount: true, memory: 512M}', 'hosts/g.yaml');
    expect(host).toMatchObject({
      deterministic: true,
      nrCpu: 1,
      memory: 2 ** 29,
      boot: { accel: 'tcg', icount: true },
    });
  });

  it.each([
    ['boot: {method: qmeu}\n', /^hosts\/g.yaml:1: boot\.method: /],
    ['boot:\n  method: qemu\n  cpus: 2\n', /^hosts\/g.yaml:3: boot\.cpus: unknown key; /],
    ['boot:\n  method: qemu\n  nr_cpu: two\n', /^hosts\/g.yaml:3: boot\.nr_cpu: expected number/],
    ['boot: {method: qemu}\nmemroy: 1G\n', /^hosts\/g.yaml:2: memroy: unknown key; did you mean memory/],
    ['boot: {method: qemu}\nmemory: lots\n', /^hosts\/g.yaml:2: memory: `lots` is no size/],
    ['boot:\n  method: qemu\n  icount: true\n  nr_cpu: 2\n', /^hosts\/g.yaml:4: boot\.nr_cpu: must be 1 with icount/],
    ['nr_cpu: 4\nmemory: 1G\nboot: {method: kexec}\n', /^hosts\/g.yaml:1: access: needs ssh\.host/],
    ['boot: {method: qemu}\nscratch_disk: big\n', /^hosts\/g.yaml:2: scratch_disk: `big` is no size/],
    ['boot: {method: qemu}\nscratch_disk: 1M\n', /^hosts\/g.yaml:2: scratch_disk: .*at least 64M/],
    [
      'nr_cpu: 4\nmemory: 1G\naccess: {ssh: {host: a}}\nscratch_disk: 4G\n',
      /^hosts\/g.yaml:4: scratch_disk: must be a device/,
    ],
    ['boot: {method: qemu}\nrebuild_spread_pct: {pft: -1}\n', /^hosts\/g.yaml:2: rebuild_spread_pct\.pft: /],
    ['boot: [\n', /^hosts\/g.yaml:\d+: /],
  ])('that are wrong are refused with file, line and key: %j', (text, message) => {
    expect(errorOf(() => parseHost(text, 'hosts/g.yaml'))).toMatch(message);
  });
});

describe('kdelta.yaml', () => {
  const tree =
    'trees:\n- name: demo\n  url: /srv/demo.git\n  branches: [main]\n  baseline: v6.12\n  kconfig: x86_64-kdelta\n  jobs: pft.yaml\n  hosts: [qemu-icount]\n';

  it('gives drafts that nobody may receive, unless it says otherwise', () => {
    expect(parseConfig(tree, 'kdelta.yaml').trees[0]!.mail).toEqual({
      mode: 'draft',
      to: ['author'],
      cc: [],
      allow: [],
      perDay: 20,
      charset: 'utf-8',
      attachToLists: false,
    });
  });

  it('gives the smallest file its defaults', () => {
    const config = parseConfig(`listen: 0.0.0.0:9000\n${tree}`, 'kdelta.yaml');
    expect(config).toMatchObject({ url: 'http://0.0.0.0:9000', listen: { host: '0.0.0.0', port: 9000 }, mail: null });
    expect(config.trees[0]).toMatchObject({
      pollSeconds: 300,
      jobs: ['pft.yaml'],
      kconfig: { base: 'x86_64-kdelta', fragments: [] },
    });
  });

  it.each([
    [`${tree}  pol: 3\n`, 'kdelta.yaml:9: trees.0.pol: unknown key; did you mean poll'],
    [`${tree}  mail:\n    mode: automatic\n`, 'kdelta.yaml:10: trees.0.mail.mode: '],
    [`${tree}  mail:\n    alow: x\n`, 'kdelta.yaml:10: trees.0.mail.alow: unknown key; did you mean allow?'],
    [`${tree}  poll: soon\n`, 'kdelta.yaml:9: trees.0.poll: `soon` is no duration'],
    [`${tree}- name: two\n`, 'kdelta.yaml:9: trees.1.url: is missing'],
    [tree.replace('[main]', '["--upload-pack=x"]'), 'kdelta.yaml:4: trees.0.branches'],
    ['listen: here\n', 'kdelta.yaml:1: listen: must be HOST:PORT'],
  ])('that is wrong is refused with file, line and key: %j', (text, message) => {
    expect(errorOf(() => parseConfig(text, 'kdelta.yaml'))).toContain(message);
  });
});
