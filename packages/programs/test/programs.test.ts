import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findProgram,
  hostFiles,
  linesOf,
  linesOfFile,
  loadParser,
  loadPrograms,
  maxLineLength,
  parseOutput,
  programRoots,
} from '../src/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-programs-'));
const cacheDir = join(dir, 'cache');
afterAll(() => rmSync(dir, { recursive: true }));

function folder(name: string, files: Record<string, string>): void {
  mkdirSync(join(dir, 'own', name), { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(dir, 'own', name, file), text);
    if (file !== 'meta.yaml' && !file.endsWith('.ts')) chmodSync(join(dir, 'own', name, file), 0o755);
  }
}

describe('a new benchmark', () => {
  const env = { KDELTA_PROGRAMS: join(dir, 'own') };
  beforeAll(() => {
    folder('copybench', {
      'meta.yaml': 'type: benchmark\nrequired: [speed]\nmetrics:\n  speed: {unit: MB/s, better: higher, kpi: true}\n',
      run: '#!/bin/sh\necho "copied at 12.50 MB/s"\n',
      'parse.ts': `import { Sink, type Samples } from '@kdelta/programs/parsing';
        export function parse(lines: Iterable<string>): Samples {
          const out = new Sink();
          for (const line of lines) out.add('speed', /^copied at (\\d+\\.\\d\\d) MB\\/s$/.exec(line)?.[1]);
          return out.samples;
        }`,
    });
    folder('lkpbench', {
      run: '#!/bin/sh\n# - nr_task\n# - runtime\n\nexec lkpbench\n',
      parse: '#!/bin/sh\nsed -n "s/^score \\([0-9.]*\\)$/score: \\1/p"\n',
    });
  });

  it('is a folder outside the checkout, and no edit elsewhere', async () => {
    const meta = findProgram(await loadPrograms(programRoots(env)), 'copybench');
    const parsed = await parseOutput(meta, Buffer.from('copied at 12.50 MB/s\ncopied at 13.25 MB/s\n'), { cacheDir });
    expect({ ...parsed.samples }).toEqual({ 'copybench.speed': [12.5, 13.25] });
    expect(parsed.missing).toEqual([]);
  });

  it('is incomplete without any KPI where it requires nothing by name', async () => {
    const meta = findProgram(await loadPrograms([join(homeDir(), 'programs')]), 'iperf');
    expect((await parseOutput(meta, Buffer.from('{"error": "refused"}\n'), { cacheDir })).missing).toHaveLength(1);
  });

  it('that never stops printing numbers is refused before they fill the memory', async () => {
    const meta = findProgram(await loadPrograms([join(homeDir(), 'programs')]), 'proc-vmstat');
    const endless = Buffer.alloc(30_000_000, 'pgfault 12345\n');
    await expect(parseOutput(meta, endless, { cacheDir })).rejects.toMatchObject({ code: 'KD_OUTPUT_TOO_LARGE' });
  });

  it('names what an incomplete output lacks', async () => {
    const meta = findProgram(await loadPrograms(programRoots(env)), 'copybench');
    expect((await parseOutput(meta, Buffer.from('copied at 12.5'), { cacheDir })).missing).toEqual(['speed']);
  });

  it('may have an executable parser and header parameters, as lkp-tests has them', async () => {
    const meta = findProgram(await loadPrograms(programRoots(env)), 'lkpbench');
    expect(Object.keys(meta.params)).toEqual(['nr_task', 'runtime']);
    writeFileSync(join(dir, 'raw'), 'score 3.5\nnoise\nscore 4\n');
    const { samples } = await parseOutput(meta, join(dir, 'raw'), { cacheDir });
    expect({ ...samples }).toEqual({ 'lkpbench.score': [3.5, 4] });
  });

  it('is named with its near matches when its name is mistyped', async () => {
    const programs = await loadPrograms(programRoots(env));
    expect(() => findProgram(programs, 'copybnch')).toThrow('did you mean copybench?');
  });

  it.each([
    ['type: benchmrk\n', /meta\.yaml:1: type: /],
    ['type: benchmark\ntitel: x\n', /meta\.yaml:1: .*titel/],
    ['type: benchmark\nparams:\n  n: {kind: integer}\n', /meta\.yaml:3: params\.n\.kind: /],
    ['type: benchmark\nmetrics:\n  "/(/": {}\n', /meta\.yaml:\d: metrics/],
    ['type: benchmark\nparams: [\n', /meta\.yaml:\d: /],
  ])('with %j as its meta.yaml is refused with file, line and key', async (text, message) => {
    const root = mkdtempSync(join(dir, 'bad-'));
    mkdirSync(join(root, 'x'));
    writeFileSync(join(root, 'x/meta.yaml'), text);
    writeFileSync(join(root, 'x/run'), '');
    await expect(loadPrograms([root])).rejects.toThrow(message);
  });
});

describe('lines', () => {
  it('are cut at 1 MB, keep no line ends and say when the last one has none', () => {
    const { lines, context } = linesOf(`${'x'.repeat(3 * maxLineLength)}\r\nshort\r\nlast`);
    const seen = [...lines].map((line) => line.length);
    expect(seen).toEqual([maxLineLength, 5, 4]);
    expect(context.unterminated).toBe(true);
  });

  it('repair bytes that are no UTF-8', () => {
    expect([...linesOf(Buffer.from([0x61, 0xff, 0x62, 0x0a])).lines]).toEqual(['a\ufffdb']);
  });

  it('of a file come one by one', () => {
    const file = join(dir, 'lines');
    writeFileSync(file, 'one\n\ntwo\n');
    expect([...linesOfFile(file).lines]).toEqual(['one', '', 'two']);
  });
});

describe('the programs of the repository', async () => {
  const programs = await loadPrograms([join(homeDir(), 'programs')]);
  const names = [...programs.keys()];
  const withFixtures = names.filter((name) => readdirSync(programs.get(name)!.dir).includes('fixtures'));
  const rawFiles = (dir: string) => readdirSync(dir).filter((file) => !file.endsWith('.json'));

  it.each(names)('%s has scripts that a POSIX shell accepts', (name) => {
    const meta = programs.get(name)!;
    const scripts = readdirSync(meta.dir).filter((file) => ['run', 'monitor', 'setup'].includes(file));
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) execFileSync('dash', ['-n', join(meta.dir, script)]);
  });

  it.each(names)('%s compiles what it builds, and ships neither sources nor parsers', async (name) => {
    const files = await hostFiles(programs.get(name)!, cacheDir);
    for (const file of files) expect(file.name).not.toMatch(/\.(ts|c|md|yaml)$/);
    for (const output of Object.keys(programs.get(name)!.build ?? {})) {
      expect(files.find((file) => file.name === output)?.executable).toBe(true);
    }
  });

  it.each(withFixtures)('%s parses its fixtures to the numbers beside them', async (name) => {
    const meta = programs.get(name)!;
    const fixtures = join(meta.dir, 'fixtures');
    for (const file of rawFiles(fixtures)) {
      const { samples } = await parseOutput(meta, join(fixtures, file), { cacheDir });
      expect({ ...samples }, file).toEqual(JSON.parse(readFileSync(join(fixtures, `${file}.json`), 'utf8')));
    }
  });

  it.each(withFixtures)('%s invents no number when its fixtures are cut anywhere', async (name) => {
    const meta = programs.get(name)!;
    const fixtures = join(meta.dir, 'fixtures');
    for (const file of rawFiles(fixtures)) {
      const raw = readFileSync(join(fixtures, file));
      const parser = (await loadParser(meta, cacheDir))!;
      const parse = (text: Buffer) => {
        const { lines, context } = linesOf(text);
        return parser(lines, context);
      };
      const whole = parse(raw);
      for (let at = 1; at < raw.length; at++) {
        // Cut at a line's end, it is a shorter run, where the format has no end of its own.
        if (raw[at - 1] === 0x0a || raw[at] === 0x0a) continue;
        const samples = parse(raw.subarray(0, at));
        for (const [metric, values] of Object.entries(samples)) {
          for (const value of values) expect(whole[metric], `${metric} of ${file} cut at ${at}`).toContain(value);
        }
      }
    }
  });

  it.each(names)('%s gives nothing for empty and for foreign output', async (name) => {
    const meta = programs.get(name)!;
    const noise = Buffer.from('\n\0\x1b[31m\n{"a":\nTypeError: 1,5 is not 2\n'.repeat(3));
    for (const raw of [Buffer.alloc(0), noise]) {
      expect(Object.keys((await parseOutput(meta, raw, { cacheDir })).samples)).toEqual([]);
    }
  });
});
