import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { expandJob, parseHost, parseJob } from '@kdelta/jobs';
import { loadPrograms } from '@kdelta/programs';
import { reproduceScript } from '@kdelta/report';
import { describe, expect, it } from 'vitest';
import { runScript } from '../src/script.ts';

const root = homeDir();
const shared = process.env.KDELTA_SHARED ?? join(root, '../shared');
const seeds = join(shared, 'seeds');

/** The attachment named `reproduce` of the seed's mail: its lines from the first command to the blank line after the last. */
function seedScript(): string {
  const file = readdirSync(seeds).find((name) => name.startsWith('004_'))!;
  const lines = readFileSync(join(seeds, file), 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes('Attachment') && line.includes('reproduce'));
  const first = lines.findIndex((line, index) => index > at && line.startsWith('echo '));
  const last = lines.findIndex((line, index) => index > first && !/^(echo|dbench) /.test(line));
  return `${lines.slice(first, last).join('\n')}\n`;
}

const hasSandbox = existsSync('/usr/bin/bwrap');

describe.skipIf(!existsSync(seeds) || !hasSandbox)('the reproduce script (needs ../shared and bubblewrap)', () => {
  it('of dbench on a 48-CPU machine is the LKP seed’s attachment, line by line', async () => {
    const programs = await loadPrograms([join(root, 'programs')]);
    const host = parseHost(readFileSync(join(root, 'hosts/ivb44.yaml'), 'utf8'), 'hosts/ivb44.yaml');
    const [job] = parseJob(
      'suite: dbench\nnr_threads: 100%\ncpufreq_governor: performance\ndbench:\n',
      'jobs/seed.yaml',
      programs,
    );
    // The monitors' own work is no part of the script.
    const testcase = { ...expandJob(job!, host, programs)[0]!, monitors: [] };

    // A machine of 48 CPUs, made up: its sysfs tree, dbench's load file, and a dbench that does nothing.
    const dir = mkdtempSync(join(tmpdir(), 'kdelta-ivb44-'));
    const cpus = join(dir, 'cpu');
    for (let cpu = 0; cpu < 48; cpu++) {
      mkdirSync(join(cpus, `cpu${cpu}/cpufreq`), { recursive: true });
      writeFileSync(join(cpus, `cpu${cpu}/cpufreq/scaling_governor`), 'powersave\n');
    }
    mkdirSync(join(dir, 'run'));
    mkdirSync(join(dir, 'bin'));
    writeFileSync(
      join(dir, 'bin/dbench'),
      '#!/bin/sh\ncat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort | uniq -c\n',
    );
    chmodSync(join(dir, 'bin/dbench'), 0o755);
    writeFileSync(join(dir, 'client.txt'), '');
    for (const name of ['dbench', 'cpufreq_governor'])
      cpSync(join(root, 'programs', name), join(dir, 'run/programs', name), { recursive: true });
    const script = runScript({ testcase, programs, base: '/run/kd', scratch: '/dev/shm/kd' });
    writeFileSync(join(dir, 'run/run.sh'), script);
    execFileSync('mkfifo', [join(dir, 'run/signal')]);
    const usr = ['bin', 'sbin', 'lib', 'lib64'].filter((name) => existsSync(join('/usr', name)));
    execFileSync('bwrap', [
      ...usr.flatMap((name) => ['--ro-bind', `/usr/${name}`, `/usr/${name}`, '--symlink', `usr/${name}`, `/${name}`]),
      ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--dir', '/dev/shm'],
      ...['--bind', cpus, '/sys/devices/system/cpu', '--bind', join(dir, 'run'), '/run/kd'],
      ...[
        '--ro-bind',
        join(dir, 'client.txt'),
        '/usr/share/dbench/client.txt',
        '--ro-bind',
        join(dir, 'bin'),
        '/usr/local/bin',
      ],
      ...['sh', '/run/kd/run.sh'],
    ]);

    expect(readFileSync(join(dir, 'run/done'), 'utf8')).toBe('ok\n');
    const made = reproduceScript(readFileSync(join(dir, 'run/out/reproduce.log'), 'utf8'));
    expect(made.split('\n')).toEqual(seedScript().split('\n'));
    expect(made.split('\n').filter((line) => line.includes('scaling_governor'))).toHaveLength(48);
    // While dbench ran all were set; afterwards each has its old governor.
    expect(readFileSync(join(dir, 'run/out/dbench'), 'utf8').trim()).toBe('48 performance');
    for (let cpu = 0; cpu < 48; cpu++)
      expect(readFileSync(join(cpus, `cpu${cpu}/cpufreq/scaling_governor`), 'utf8')).toBe('powersave\n');
    rmSync(dir, { recursive: true, force: true });
  });
});

it('what a host wrote into its log shows as text only, and an endless log is cut', () => {
  expect(reproduceScript('echo \x1b[31mred\r\n\n\ndbench 4\n')).toBe('echo ?[31mred\ndbench 4\n');
  expect(reproduceScript('a\nb\nc\n', 2)).toBe('a\nb\n# 1 more lines were cut\n');
});
