import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram, loadPrograms, parseOutput } from '../src/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-scripts-'));
afterAll(() => rmSync(dir, { recursive: true }));
const programs = await loadPrograms([join(homeDir(), 'programs')]);

/** Starts a series monitor, ends it after `ms` as the runner does, and gives its output. */
async function monitorOutput(name: string, ms: number): Promise<Buffer> {
  const meta = programs.get(name)!;
  const child = spawn('dash', [join(meta.dir, 'monitor')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', interval: '1', KD_OUT: dir },
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
  });
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.kill('SIGTERM');
  await ended;
  return Buffer.concat(chunks);
}

describe('series monitors', () => {
  it.each(['proc-vmstat', 'meminfo', 'proc-stat', 'proc-buddyinfo', 'heartbeat'])(
    '%s samples at its start and once more when it is told to end',
    async (name) => {
      const output = await monitorOutput(name, 1500);
      const stamps = output.toString().match(/^time: \S+$/gm)!;
      // At 0 s, at 1 s and at the end; on a busy machine perhaps not the second.
      expect(stamps.length).toBeGreaterThanOrEqual(2);
      expect(stamps.length).toBeLessThanOrEqual(4);
      const { samples } = await parseOutput(programs.get(name)!, output, { cacheDir: dir });
      expect(Object.keys(samples).length).toBeGreaterThan(2);
    },
  );
});

describe('snapshot monitors', () => {
  const snapshots = [...programs.values()].filter((meta) => meta.monitor === 'snapshot' && meta.name !== 'dmesg');
  it.each(snapshots.map((meta) => meta.name))(
    '%s gives numbers of this machine, or says why it has none',
    async (name) => {
      const meta = programs.get(name)!;
      const shot = () => execFileSync('dash', [join(meta.dir, 'monitor'), 'before'], { encoding: 'utf8' });
      const output = shot() + shot();
      if (output.startsWith('# not available: ')) return;
      const { samples } = await parseOutput(meta, Buffer.from(output), { cacheDir: dir });
      expect(Object.keys(samples)).not.toEqual([`${name}.time`]);
      expect(samples[`${name}.time`]).toHaveLength(2);
    },
  );
});

describe('monitors that need a tool', () => {
  const needy = [...programs.values()].filter(
    (meta) => meta.type === 'monitor' && /command -v/.test(readFileSync(join(meta.dir, 'monitor'), 'utf8')),
  );
  const series = needy.filter((meta) => meta.monitor === 'series' && meta.name !== 'pgfault-latency');
  it.each(series.map((meta) => meta.name))('%s without its tool says so and fails nothing', (name) => {
    const monitor = join(programs.get(name)!.dir, 'monitor');
    const env = { PATH: '/nonexistent', LC_ALL: 'C', KD_OUT: dir, KD_TMP: dir, interval: '1' };
    const { status, stdout } = spawnSync('/bin/dash', [monitor], { encoding: 'utf8', env });
    expect(stdout).toMatch(/^# not available: .+\n$/);
    expect(status).toBe(0);
  });
});

const mayBind = spawnSync('unshare', ['-m', 'true']).status === 0;

describe('cpufreq_governor', () => {
  const { dir: folder } = findProgram(programs, 'cpufreq_governor');

  // Binding a made-up tree over /sys needs a mount namespace of our own, so root.
  it.skipIf(!mayBind)(
    'writes every CPU’s governor in the order of the shell’s glob, and writes back what was there',
    () => {
      const tree = join(dir, 'cpu');
      const names = Array.from({ length: 12 }, (_, i) => `cpu${i}`);
      for (const [i, name] of names.entries()) {
        mkdirSync(join(tree, name, 'cpufreq'), { recursive: true });
        writeFileSync(join(tree, name, 'cpufreq/scaling_governor'), i % 2 ? 'powersave\n' : 'schedutil\n');
      }
      mkdirSync(join(tree, 'cpufreq'));
      const script = `mount --bind '${tree}' /sys/devices/system/cpu && dash '${folder}/setup' &&
      cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor && dash '${folder}/setup' restore`;
      const output = execFileSync('unshare', ['-m', 'sh', '-c', script], {
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          cpufreq_governor: 'performance',
          KD_OUT: dir,
          KD_REPRODUCE: join(dir, 'reproduce'),
        },
      });
      expect(output).toBe(`nr_set: 12\n${'performance\n'.repeat(12)}restored\n`);
      const order = [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9];
      expect(readFileSync(join(dir, 'reproduce'), 'utf8')).toBe(
        order.map((n) => `echo performance > /sys/devices/system/cpu/cpu${n}/cpufreq/scaling_governor\n`).join(''),
      );
      for (const [i, name] of names.entries()) {
        expect(readFileSync(join(tree, name, 'cpufreq/scaling_governor'), 'utf8')).toBe(
          i % 2 ? 'powersave\n' : 'schedutil\n',
        );
      }
    },
  );
});

describe('kernbench', () => {
  const tools = ['/usr/bin/time', '/usr/bin/make', '/usr/bin/cc'].every((tool) => existsSync(tool));
  it.skipIf(!tools)(
    'compiles a project of its own and prints averages that its parser reads',
    async () => {
      const tmp = join(dir, 'kernbench');
      mkdirSync(tmp);
      const output = execFileSync('dash', [join(programs.get('kernbench')!.dir, 'run')], {
        cwd: tmp,
        env: {
          PATH: process.env.PATH,
          LC_ALL: 'C',
          KD_TMP: tmp,
          KD_REPRODUCE: join(tmp, 'reproduce'),
          source: 'project',
          files: '1',
          iterations: '2',
          nr_threads: '1',
        },
      });
      const { samples, missing } = await parseOutput(programs.get('kernbench')!, output, { cacheDir: dir });
      expect(missing).toEqual([]);
      expect(samples['kernbench.elapsed_time']![0]).toBeGreaterThan(0);
      expect(samples['kernbench.user_time_stddev']).toHaveLength(1);
      // GNU time's lines of both compiles, the warm-up's not among them.
      expect(readFileSync(join(tmp, 'times'), 'utf8').trim().split('\n')).toHaveLength(2);
    },
    120_000,
  );
});
