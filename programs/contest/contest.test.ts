import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from './parse.ts';

const whole = { unterminated: false } as never;
const LOG = `# source: project of 8 files
Load: no_load
Finished compiling kernel: elapsed: 80.000 user: 70.000 system: 9.200
Load: io_load_half
Finished compiling kernel: elapsed: 92.000 user: 70.000 system: 8.200
Finished io_load_half: elapsed: 93.000 user: 1.000 system: 17.600 loads: 4.650
Load: mem_load
Timeout mem_load after 7200 s
Finished mem_load: elapsed: 7201.000 user: 5.000 system: 67.010 loads: 3.000
done`.split('\n');

describe('parse', () => {
  const samples = parse(LOG, whole);
  it('gives time, CPU share and the ratio to the own no_load', () => {
    // Kolivas 2003: 92 / 80 = 1.15; (70 + 9.2) / 80 = 99 %.
    expect(samples['io_load_half.ratio']).toEqual([1.15]);
    expect(samples['no_load.cpu_pct']![0]).toBeCloseTo(99, 10);
    // 4.65 rounds in 93 s; (1 + 17.6) / 93 = 20 %.
    expect(samples['io_load_half.load_rate']![0]).toBeCloseTo(0.05, 10);
    expect(samples['io_load_half.lcpu_pct']![0]).toBeCloseTo(20, 10);
  });
  it('keeps a load that never ended as a timeout, without a time', () => {
    expect(samples['mem_load.timeout']).toEqual([1]);
    expect(samples['mem_load.time']).toBeUndefined();
  });
  it('invents nothing from a log that is cut', () => {
    const cut = { unterminated: true } as never;
    expect(parse(['Load: no_load'], cut)).toEqual({});
    expect(parse(['Load: no_load', 'Finished compiling kernel: elapsed: 80.000 user: 70.0'], whole)).toEqual({});
  });
});

describe('contest-load', () => {
  let dir: string;
  let load: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'kdelta-contest-'));
    load = join(dir, 'contest-load');
    execFileSync('cc', ['-O2', '-static', '-o', load, join(import.meta.dirname, 'contest-load.c')]);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each([
    ['process', '4'],
    ['io', 'FILE', '1000000'],
    ['mem', '1000000'],
    ['read', 'SELF'],
    ['list', 'DIR'],
  ])('%s works until SIGTERM and then says how much it did', async (...args) => {
    const words = args.map((word) => ({ FILE: join(dir, 'io'), SELF: load, DIR: dir })[word] ?? word);
    const child = spawn(load, words);
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    await new Promise((done) => setTimeout(done, 300));
    child.kill('SIGTERM');
    await new Promise((done) => child.on('close', done));
    const line = /^elapsed: \d+\.\d{3} user: \d+\.\d{3} system: \d+\.\d{3} loads: (\d+\.\d{3})\n$/.exec(out);
    expect(Number(line?.[1])).toBeGreaterThan(0);
  });

  it('writes on one disk while the compile is on another', { timeout: 60_000 }, async () => {
    // /dev/shm is another device than the folder for temporary files, or should be.
    const other = mkdtempSync('/dev/shm/kdelta-contest-');
    const program = join(dir, 'program');
    mkdirSync(program);
    for (const name of ['run', 'project']) copyFileSync(join(import.meta.dirname, name), join(program, name));
    copyFileSync(load, join(program, 'contest-load'));
    writeFileSync(join(dir, 'reproduce'), '');
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    for (const path of [dir, other, program, join(dir, 'reproduce')]) chmodSync(path, 0o777);
    const child = spawn('dash', [join(program, 'run')], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'ignore'],
      // Not as root: this machine's caches are not to be dropped.
      ...nobody,
      env: {
        PATH: process.env.PATH,
        ...{ KD_PROGRAM_DIR: program, KD_TMP: dir, KD_REPRODUCE: join(dir, 'reproduce') },
        ...{ loads: 'no_load io_other', source: 'project', files: '1', runs: '1', load_timeout: '50', scale: '1' },
        ...{ io_dir: dir, other_dir: other, nr_cpu: '1', memory: String(2 ** 29) },
      },
    });
    let out = '';
    let seen = false;
    child.stdout.on('data', (text) => {
      out += text;
    });
    const watch = setInterval(() => {
      seen ||= existsSync(join(other, 'kdelta-contest.io'));
    }, 20);
    await new Promise((done) => child.on('close', done));
    clearInterval(watch);
    const left = readdirSync(other);
    rmSync(other, { recursive: true });
    expect(out).toMatch(/^Load: io_other\nFinished compiling kernel: .*\nFinished io_other: .* loads: [\d.]+\ndone$/m);
    expect(seen).toBe(true);
    expect(left).toEqual([]);
    const samples = parse(out.split('\n'), whole);
    expect(samples['io_other.ratio']![0]).toBeGreaterThan(0);
    expect(samples['io_other.loads']![0]).toBeGreaterThan(0);
  });

  it('stops a compile that never ends, with all its children', () => {
    let status = 0;
    let out = '';
    try {
      execFileSync(load, ['time', '1', 'sh', '-c', 'sleep 1000 & sleep 1000'], { encoding: 'utf8' });
    } catch (error) {
      ({ status, stdout: out } = error as { status: number; stdout: string });
    }
    expect(status).toBe(124);
    expect(out).toBe('timeout: 1\n');
  });

  it('compiles the project that it writes', () => {
    execFileSync('sh', [join(import.meta.dirname, 'project'), join(dir, 'p'), '2']);
    execFileSync('make', ['-s', '-C', join(dir, 'p')]);
    expect(execFileSync(join(dir, 'p', 'project'), { encoding: 'utf8' })).toMatch(/^\d+\n$/);
  });
});
