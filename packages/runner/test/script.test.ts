import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ProgramMeta, ProgramUse, Testcase } from '@kdelta/jobs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLEAN, quote, runScript } from '../src/script.ts';
import { readTar, writeTar } from '../src/tar.ts';
import { overheadSeconds } from '../src/timeline.ts';

/* The script itself, run by this machine's sh: the same text that runs on a host. */
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-run-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Program {
  type: ProgramMeta['type'];
  monitor?: ProgramMeta['monitor'];
  startsWithin?: number;
  script: string;
  env?: Record<string, string>;
}

/** Lays the programs out as on a host, runs the script to its end, and returns what it left. */
function runAll(programs: Record<string, Program>, timeoutSeconds = 10, under: string[] = [], warmup?: number) {
  const base = join(dir, 'base');
  const metas = new Map<string, ProgramMeta>();
  const use = (name: string): ProgramUse => ({ name, env: programs[name]!.env ?? {} });
  for (const [name, { type, monitor, startsWithin, script }] of Object.entries(programs)) {
    metas.set(name, {
      name,
      type,
      monitor,
      startsWithin,
      packages: [],
      params: {},
      metrics: {},
      required: [],
      dir: '',
    });
    const folder = join(base, 'programs', name);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, { benchmark: 'run', monitor: 'monitor', setup: 'setup' }[type]);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
  const of = (type: string) => Object.keys(programs).filter((name) => programs[name]!.type === type);
  const testcase: Testcase = {
    key: '',
    name: 'x',
    program: of('benchmark')[0]!,
    params: {},
    run: use(of('benchmark')[0]!),
    setups: of('setup').map(use),
    monitors: of('monitor').map(use),
    tboxGroup: 'here',
    boots: 1,
    maxBoots: 1,
    timeoutSeconds,
    warmup,
    needKconfig: {},
    versions: {},
  };
  writeFileSync(join(base, 'run.sh'), runScript({ testcase, programs: metas, base, scratch: join(dir, 'scratch') }));
  execFileSync('mkfifo', [join(base, 'signal')]);
  writeFileSync(join(base, 'state'), '');
  const command = [...under, 'env', '-i', ...CLEAN.split(' '), 'sh', join(base, 'run.sh')];
  const ran = spawnSync(command[0]!, command.slice(1), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(ran.stderr).toBe('');
  const out = (name: string) =>
    existsSync(join(base, 'out', name)) ? readFileSync(join(base, 'out', name), 'utf8') : null;
  return {
    base,
    out,
    done: readFileSync(join(base, 'done'), 'utf8').trim(),
    state: readFileSync(join(base, 'state'), 'utf8'),
  };
}

const log = 'echo "$KD_PROGRAM $*" >>$KD_OUT/order';

describe('the script of a boot', () => {
  it('warms up by the benchmark itself, before the monitors and without a trace', () => {
    const order = join(dir, 'order');
    const { out, done } = runAll(
      {
        first: { type: 'setup', script: `echo "setup $*" >>${order}` },
        shot: { type: 'monitor', monitor: 'snapshot', script: `echo "shot $*" >>${order}` },
        bench: {
          type: 'benchmark',
          script: `echo bench >>${order}; mkdir made; echo result; echo x >$KD_OUT/more; echo bench 7 >>$KD_REPRODUCE`,
        },
      },
      10,
      [],
      2,
    );
    // The folder `made` would be in the way of a second run in the same place.
    expect(done).toBe('ok');
    expect(readFileSync(order, 'utf8').trim().split('\n')).toEqual([
      ...['setup ', 'bench', 'bench', 'shot before', 'bench', 'shot after', 'setup restore'],
    ]);
    expect(out('bench')).toBe('result\n');
    expect(out('reproduce.log')).toBe('bench 7\n');
  });

  it('compresses what a monitor in its gzip form says, to the last line', () => {
    const { base, out, done } = runAll({
      ticks: {
        type: 'monitor',
        monitor: 'series',
        env: { form: 'gzip' },
        script: `echo ticks $form; echo two; trap 'echo last; exit 0' TERM; while :; do sleep 1 & wait $!; done`,
      },
      shot: { type: 'monitor', monitor: 'snapshot', env: { form: 'gzip' }, script: 'echo "shot $*"' },
      bench: { type: 'benchmark', script: 'cat $KD_OUT/ticks' },
    });
    expect(done).toBe('ok');
    const unpacked = (name: string) => gunzipSync(readFileSync(join(base, 'out', `${name}.gz`))).toString();
    expect(unpacked('ticks')).toBe('ticks gzip\ntwo\nlast\n');
    expect(unpacked('shot')).toBe('shot before\nshot after\n');
    // Where its output would be is where it went, and that is there before the program starts.
    expect(out('bench')).toBe('# compressed: ticks.gz\n');
    expect(out('shot')).toBe('# compressed: shot.gz\n');
  });

  it('ends though a compressed monitor says nothing, or will not end', () => {
    const { done, out } = runAll({
      silent: { type: 'monitor', monitor: 'series', env: { form: 'gzip' }, script: 'exec sleep 100' },
      deaf: {
        type: 'monitor',
        monitor: 'series',
        env: { form: 'gzip' },
        script: `echo x; trap '' TERM; sleep 100; sleep 100`,
      },
      bench: { type: 'benchmark', script: 'echo result' },
    });
    expect(done).toBe('ok');
    expect(out('bench')).toBe('result\n');
  });

  it('says that a warm-up failed, and measures nothing', () => {
    const { out, done } = runAll(
      { first: { type: 'setup', script: 'echo "setup $*"' }, bench: { type: 'benchmark', script: 'echo no; exit 3' } },
      10,
      [],
      1,
    );
    expect(done).toBe('warmup bench 3');
    expect(out('bench')).toBeNull();
    expect(out('first')).toBe('setup \nsetup restore\n');
  });

  it('waits for a monitor that needs long to begin, as long as it may', () => {
    const order = (seconds: number, startsWithin?: number) =>
      runAll({
        slow: {
          type: 'monitor',
          monitor: 'series',
          startsWithin,
          script: `echo waited >>$KD_OUT/order; sleep ${seconds}; ${log}; echo up`,
        },
        bench: { type: 'benchmark', script: log },
      }).out('order');
    expect(order(3, 30)).toBe('waited\nslow \nbench \n');
    rmSync(join(dir, 'base'), { recursive: true });
    // Not a few seconds: on a machine with much else to do the 2 s may take long.
    expect(order(60)).toMatch(/^waited\nbench \n/);
  });

  it('keeps the order that docs/add-a-benchmark.md promises', () => {
    const { out, done, state } = runAll({
      first: { type: 'setup', script: log },
      second: { type: 'setup', script: log },
      ticks: {
        type: 'monitor',
        monitor: 'series',
        script: `${log}; echo tick; trap 'echo "ticks end" >>$KD_OUT/order; exit 0' TERM; while :; do sleep 1 & wait $!; done`,
      },
      shot: { type: 'monitor', monitor: 'snapshot', script: log },
      wrap: { type: 'monitor', monitor: 'wrap', script: `echo "wrap" >>$KD_OUT/order; exec "$@"` },
      bench: { type: 'benchmark', script: `${log}; echo result; echo trouble >&2; echo bench 7 >>$KD_REPRODUCE` },
    });
    expect(done).toBe('ok');
    const lines = out('order')!
      .trim()
      .split('\n')
      .map((line) => line.trim());
    expect(lines.filter((line) => line !== 'ticks end')).toEqual([
      'first',
      'second',
      'ticks',
      'shot before',
      'wrap',
      'bench',
      'shot after',
      'second restore',
      'first restore',
    ]);
    expect(lines.indexOf('ticks end')).toBeGreaterThan(lines.indexOf('bench'));
    expect(out('bench')).toBe('result\n');
    expect(out('bench.err')).toBe('trouble\n');
    expect(out('reproduce.log')).toBe('bench 7\n');
    expect(state.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'started',
      'program-start',
      'program-end',
      'done',
      '',
    ]);
  });

  it('hands over parameters and nothing of its own environment, whatever is in them', () => {
    const nasty = `a'b "c" $(touch ${dir}/pwned) \`id\` ; | & * é\\`;
    const { out } = runAll({
      bench: {
        type: 'benchmark',
        script: 'printf "%s\\n" "$param"; env | sort | cut -d= -f1 | tr "\\n" " "',
        env: { param: nasty },
      },
    });
    const [value, names] = out('bench')!.split('\n');
    expect(value).toBe(nasty);
    expect(names!.trim().split(' ')).toEqual(
      expect.arrayContaining([
        'HOME',
        'KD_OUT',
        'KD_PROGRAM',
        'KD_PROGRAM_DIR',
        'KD_REPRODUCE',
        'KD_TMP',
        'LC_ALL',
        'PATH',
        'TZ',
        'param',
      ]),
    );
    expect(names).not.toMatch(/VITEST|NODE|XDG/);
    expect(existsSync(join(dir, 'pwned'))).toBe(false);
  });

  it('runs the benchmark in an empty folder that is gone afterwards', () => {
    const { out } = runAll({ bench: { type: 'benchmark', script: 'pwd; ls -A; touch x' } });
    expect(out('bench')).toBe(`${join(dir, 'scratch')}\n`);
    expect(existsSync(join(dir, 'scratch'))).toBe(false);
  });

  it('gives the benchmark the default personality, whatever the script itself runs under', () => {
    const { out } = runAll({ bench: { type: 'benchmark', script: 'cat /proc/self/personality' } }, 10, [
      'setarch',
      '-R',
    ]);
    expect(out('bench')).toBe('00000000\n');
  });

  it('says which part failed, and restores all the same', () => {
    const failing = runAll({
      good: { type: 'setup', script: log },
      bad: { type: 'setup', script: `${log}; [ "$1" = restore ] || exit 7` },
      never: { type: 'setup', script: log },
      bench: { type: 'benchmark', script: log },
    });
    expect(failing.done).toBe('setup bad 7');
    expect(
      failing
        .out('order')!
        .split('\n')
        .map((l) => l.trim()),
    ).toEqual(['good', 'bad', 'bad restore', 'good restore', '']);
  });

  it('says that a benchmark failed, or ran out of time', () => {
    expect(runAll({ bench: { type: 'benchmark', script: 'exit 3' } }).done).toBe('program bench 3');
    rmSync(join(dir, 'base'), { recursive: true });
    expect(runAll({ bench: { type: 'benchmark', script: 'sleep 60' } }, 1).done).toBe('program bench 124');
  });

  it('does not wait for a monitor that says nothing or will not end', () => {
    const { done, out } = runAll({
      mute: { type: 'monitor', monitor: 'series', script: "trap '' TERM; while :; do sleep 1; done" },
      bench: { type: 'benchmark', script: 'echo result' },
    });
    expect(done).toBe('ok');
    expect(out('bench')).toBe('result\n');
  });

  it('leaves one archive with everything in it', () => {
    const { base } = runAll({ bench: { type: 'benchmark', script: 'echo result' } });
    const files = readTar(execFileSync('gzip', ['-dc', join(base, 'result.tar.gz')]));
    const bench = files.find((file) => file.name === 'out/bench');
    expect(bench?.content.toString()).toBe('result\n');
    expect(files.map((file) => file.name)).toEqual(expect.arrayContaining(['state', 'out/exit', 'out/reproduce.log']));
  });
});

describe('archives', () => {
  it('that we write are read by tar, modes included', () => {
    writeFileSync(
      join(dir, 'a.tar'),
      writeTar([
        { name: 'programs/x/run', content: Buffer.from('hi'), executable: true },
        { name: 'b', content: Buffer.alloc(513) },
      ]),
    );
    const listing = execFileSync('tar', ['-tvf', join(dir, 'a.tar')]).toString();
    expect(listing).toMatch(/^-rwxr-xr-x .* 2 .* programs\/x\/run$/m);
    expect(listing).toMatch(/^-rw-r--r-- .* 513 .* b$/m);
  });

  it('of a hostile host are refused: links, absolute names, dots, devices, cut short', () => {
    const make = (script: string) => {
      const folder = mkdtempSync(join(dir, 'evil-'));
      return execFileSync('sh', ['-c', script], { cwd: folder });
    };
    expect(() => readTar(make('ln -s /etc/passwd x; tar cf - x'))).toThrow(/no plain file/);
    expect(() => readTar(make('touch x; ln x y; tar cf - x y'))).toThrow(/no plain file/);
    expect(() => readTar(make('touch x; tar -Pcf - --transform "s,x,/tmp/x," x'))).toThrow(/odd name/);
    expect(() => readTar(make('touch x; tar -Pcf - --transform "s,x,a/../../x," x'))).toThrow(/odd name/);
    expect(() => readTar(make('mkfifo x; tar cf - x'))).toThrow(/no plain file/);
    expect(() => readTar(make('head -c 5000 /dev/zero >x; tar cf - x').subarray(0, 3000))).toThrow(/cut short/);
  });
});

it('a word for the shell is that word again after the shell has read it', () => {
  for (const word of ['', 'plain', "it's", '$HOME `id` "x"', '\\', 'a\nb', '*?[', 'é€'])
    expect(spawnSync('sh', ['-c', `printf %s ${quote(word)}`]).stdout.toString()).toBe(word);
  expect(() => quote('a\0b')).toThrow(/NUL/);
});

it('the overhead of a boot is its wall time less the guest’s start and the program', () => {
  const marks = {
    'boot start': 0,
    'qemu start': 200,
    'first login': 5200,
    'program start': 6000,
    'program end': 16_000,
    released: 16_700,
  };
  const entries = Object.entries(marks).map(([what, at]) => ({ what, at }));
  // 16.7 − (5.2 − 0.2) − (16 − 6) = 1.7
  expect(overheadSeconds(entries)).toBeCloseTo(1.7, 9);
  expect(overheadSeconds(entries.slice(0, 4))).toBeNull();
});
