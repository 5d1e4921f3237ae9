import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { mapanonGraphs, readMapanonFiles, sharedScale } from '@kdelta/report';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from './parse.ts';

let dir: string;
let mapanon: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-mapanon-'));
  mapanon = join(dir, 'mapanon');
  execFileSync('cc', ['-O2', '-static', '-o', mapanon, join(import.meta.dirname, 'mapanon.c'), '-lm']);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const generate = (...args: (string | number)[]) =>
  execFileSync(mapanon, ['generate', ...args.map(String)], { maxBuffer: 64 << 20 });
const pages = (file: Buffer) => file.toString().trimEnd().split('\n').slice(1).map(Number);
const replay = (file: string, ...args: string[]) =>
  spawnSync(mapanon, ['replay', ...args, file, join(dir, 'out')], { encoding: 'utf8' });

describe('generate', () => {
  // VM Regress's own files (Perl and a port of it gave the same bytes).
  it.each([
    [1000, 20, 'fbc2beb307a240c4b6d4de0a2846a146'],
    [2_000_000, 25_000, '177b31d3b69f4c353877334e1ed36236'],
    [2_000_000, 50_000, '2a4a2c0e60b273bebd7e9e33b1ff447b'],
  ])('makes smooth_sin of %i references to %i pages byte for byte', (references, range, md5) => {
    expect(
      createHash('md5')
        .update(generate('smooth_sin', references, range))
        .digest('hex'),
    ).toBe(md5);
  });

  it('deals out the sine with the counts of the published example', () => {
    const counts = Array(10).fill(0);
    for (const page of pages(generate('smooth_sin', 100, 10))) counts[page]++;
    expect(counts).toEqual([9, 15, 16, 11, 4, 1, 4, 11, 15, 14]);
  });

  it('cuts a tiny range where the sine alone gives more than was asked for', () => {
    expect(pages(generate('smooth_sin', 4, 3))).toHaveLength(4);
  });

  it('shuffles to the same multiset, the same for a seed and another for another', () => {
    const plain = pages(generate('smooth_sin', 1000, 20));
    const shuffled = pages(generate('smooth_sin-random', 1000, 20, 7));
    expect(shuffled).not.toEqual(plain);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(plain);
    expect(pages(generate('smooth_sin-random', 1000, 20, 7))).toEqual(shuffled);
    expect(pages(generate('smooth_sin-random', 1000, 20, 8))).not.toEqual(shuffled);
  });
});

describe('replay', () => {
  it('touches exactly the pages of a hand-written file', () => {
    writeFileSync(join(dir, 'refs'), '6 5\n1\n3\n3\n5\n1\n');
    const { status, stdout } = replay(join(dir, 'refs'));
    expect(status).toBe(0);
    const samples = parse(stdout.split('\n'), { unterminated: false } as never);
    expect(samples.present).toEqual([3]);
    expect(samples.pages_touched).toEqual([3]);
    // Pages 1 (2 uses), 3 (2), 5 (1) are present, and they are the three most used.
    expect(samples.retention_refcount).toEqual([1]);
    expect(readFileSync(join(dir, 'out-refcount.data'), 'utf8')).toBe('0 0\n1 2\n2 0\n3 2\n4 0\n5 1\n');
    // Ages of pages 1, 3, 5: last used by references 5, 3 and 4 of 5.
    expect(readFileSync(join(dir, 'out-age.data'), 'utf8')).toBe('0 5\n1 0\n2 5\n3 2\n4 5\n5 1\n');
    expect(readFileSync(join(dir, 'out-pagemap.data'), 'utf8')).toBe('0 0 0\n1 1 0\n2 0 0\n3 1 0\n4 0 0\n5 1 0\n');
  });

  it.each([
    ['linear', 25_000, '--write'],
    ['linear', 50_000, '--read'],
    ['random', 25_000, '--read'],
    ['random', 50_000, '--write'],
  ])('has every page that %s order over %i pages touched in memory (%s)', (pattern, range, op) => {
    const references = generate(pattern, 2 * range, range, 1);
    writeFileSync(join(dir, 'refs'), references);
    const samples = parse(replay(join(dir, 'refs'), op).stdout.split('\n'), { unterminated: false } as never);
    const touched = new Set(pages(references)).size;
    expect(samples.pages_touched).toEqual([touched]);
    // Without a memory limit all of them stay: within 1 %, should the machine swap.
    expect(Math.abs(samples.present![0]! + (samples.swapped?.[0] ?? 0) - touched)).toBeLessThanOrEqual(touched / 100);
  });

  it('runs a hundred times at once, each with its own output', async () => {
    writeFileSync(join(dir, 'refs'), '6 5\n1\n3\n3\n5\n1\n');
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    const outputs = await Promise.all(
      numbers.map((i) => promisify(execFile)(mapanon, ['replay', join(dir, 'refs'), join(dir, `many-${i}`)])),
    );
    for (const { stdout } of outputs) expect(stdout).toContain('present: 3');
    for (const i of numbers)
      expect(readFileSync(join(dir, `many-${i}-refcount.data`), 'utf8')).toBe('0 0\n1 2\n2 0\n3 2\n4 0\n5 1\n');
  });

  it('shows a stop of the process as a spike of one access, in the figures and in both graphs', async () => {
    const references = 1_000_000;
    writeFileSync(join(dir, 'refs'), generate('linear', references, 1000));
    const child = spawn(mapanon, ['replay', join(dir, 'refs'), join(dir, 'stopped')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    // Again and again until it writes its data: some of the stops fall between the two readings of the clock.
    while (child.exitCode === null && !existsSync(join(dir, 'stopped-time.data'))) {
      child.kill('SIGSTOP');
      await sleep(25);
      child.kill('SIGCONT');
      await sleep(4);
    }
    expect(await ended).toBe(0);
    const samples = parse(stdout.split('\n'), { unterminated: false } as never);
    expect(samples.access_max![0]).toBeGreaterThan(20_000);
    const text = (kind: string) => readFileSync(join(dir, `stopped-${kind}.data`), 'utf8');
    const files = { time: text('time'), pagemap: text('pagemap'), refcount: text('refcount'), age: text('age') };
    const run = readMapanonFiles('stopped', files);
    const scale = sharedScale([run]);
    const graphs = mapanonGraphs(run, scale);
    expect(scale.timeMax).toBeGreaterThan(20_000);
    // Both graphs have a bar up to their top, y = 26: in the scaled one it is cut there.
    expect(scale.timeScaled).toBeLessThan(scale.timeMax);
    for (const name of ['time', 'time-unscaled'] as const) expect(graphs[name], name).toMatch(/V26[M"]/);
  });

  it('draws the pages four to a character', () => {
    writeFileSync(join(dir, 'refs'), '6 3\n1\n3\n5\n');
    // Pages 1 and 3: bits 1 and 3 = 10 = ':'; page 5: bit 1 = 2.
    expect(replay(join(dir, 'refs'), '--map').stdout).toContain('\n# :2\n# END PAGE MAP - 3 pages of 6 present\n');
  });

  it.each([
    ['6 2\n1\n6\n', 'line 3: not a page below the range'],
    ['6 2\n1\n', 'cut short'],
    ['6 1\n1\n2\n', 'line 3: more references'],
    ['6\n', 'line 1'],
  ])('refuses the reference file %j', (text, why) => {
    writeFileSync(join(dir, 'bad'), text);
    const { status, stderr } = replay(join(dir, 'bad'));
    expect(status).toBe(2);
    expect(stderr).toContain(why);
  });
});

describe('parse', () => {
  const output = 'Instance: 1\nduration: 1.500000 s\npresent: 3\nmapanon: complete\nInstance: 2\nduration: 2.5';
  it('counts only what an instance printed to its end', () => {
    expect(parse(output.split('\n'), { unterminated: false } as never)).toEqual({ duration: [1.5], present: [3] });
  });
});
