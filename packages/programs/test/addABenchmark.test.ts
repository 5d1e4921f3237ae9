import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { expandJob, parseHost, parseJob, plainJob } from '@kdelta/jobs';
import { afterAll, expect, it } from 'vitest';
import { findProgram, loadPrograms, parseOutput, programRoots } from '../src/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-example-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('the example of docs/add-a-benchmark.md gives its numbers as it stands, with no file beside its folder', async () => {
  const page = readFileSync(join(homeDir(), 'docs/add-a-benchmark.md'), 'utf8');
  const files = [...page.matchAll(/^`(programs\/[\w/.-]+)`.*\n\n```\w+\n([\s\S]*?)^```$/gm)];
  expect(files.map((match) => match[1])).toEqual(
    ['meta.yaml', 'run', 'parse.ts'].map((name) => `programs/zstd-level/${name}`),
  );
  for (const [, path, content] of files) {
    mkdirSync(dirname(join(dir, path!)), { recursive: true });
    writeFileSync(join(dir, path!), content!);
  }
  const programs = await loadPrograms(programRoots({ KDELTA_PROGRAMS: join(dir, 'programs') }));
  const meta = findProgram(programs, 'zstd-level');
  const host = parseHost('boot: {method: qemu}', 'hosts/g.yaml');
  // No job file: its defaults. With the one that the page shows: three levels.
  const plain = parseJob(plainJob('zstd-level', programs)!, 'jobs/zstd-level.yaml', programs);
  const [testcase] = expandJob(plain[0]!, host, programs);
  const shown = /^suite: zstd-level\n[\s\S]*?(?=^```$)/m.exec(page)![0];
  const expanded = expandJob(parseJob(shown, 'jobs/zstd-level.yaml', programs)[0]!, host, programs);
  expect(expanded.map((one) => one.run.env.level)).toEqual(['1', '3', '9']);
  const raw = execFileSync('dash', [join(meta.dir, 'run')], {
    cwd: dir,
    env: { ...testcase!.run.env, runtime: '1', PATH: process.env.PATH, KD_REPRODUCE: join(dir, 'reproduce') },
  });
  const { samples, missing } = await parseOutput(meta, raw, { cacheDir: join(dir, 'cache') });
  expect(missing).toEqual([]);
  expect(samples['zstd-level.compress_MB/s']![0]).toBeGreaterThan(0);
  // As zstd 1.5.4 printed it in a qemu-tcg guest: below 10 MB/s it has two decimals.
  const slow = [
    ' /-data              :    524288 ->    225972 (x2.320),   8.20 MB/s,   58.6 MB/s',
    ' =-data              :    524288 ->    225972 (x2.320),   8.20 MB/s ',
    ' 3#',
  ];
  const inGuest = await parseOutput(meta, Buffer.from(`${slow.join('\n')}\n`), { cacheDir: join(dir, 'cache') });
  expect(inGuest.samples).toEqual({ 'zstd-level.compress_MB/s': [8.2], 'zstd-level.decompress_MB/s': [58.6] });
  expect(readFileSync(join(dir, 'reproduce'), 'utf8')).toBe('zstd -b3 -i1 data\n');
});
