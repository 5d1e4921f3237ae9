import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { afterAll, expect, it } from 'vitest';
import { parseWith } from './vectors.ts';

const cacheDir = mkdtempSync(join(tmpdir(), 'kdelta-incomplete-'));
afterAll(() => rmSync(cacheDir, { recursive: true }));

const { incomplete, trailing } = JSON.parse(
  readFileSync(join(homeDir(), 'packages/stats/test/lkp-inputs.json'), 'utf8'),
) as {
  incomplete: { rows: { program: string; raw: string }[] };
  trailing: { program: string; raw: string; expect: { files_per_sec: number } };
};

it.each(incomplete.rows)('an aborted $program has no number, and certainly no 0', async ({ program, raw }) => {
  const samples = await parseWith(program, raw, cacheDir);
  expect(Object.keys(samples).filter((name) => name !== 'clients' && name !== 'procs')).toEqual([]);
});

it("takes fs_mark's rate from its table, not from the percentiles below it", async () => {
  const samples = await parseWith(trailing.program, trailing.raw, cacheDir);
  expect(samples.files_per_sec).toEqual([trailing.expect.files_per_sec]);
});
