import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { afterAll, expect, it } from 'vitest';
import { parseWith } from './vectors.ts';

const cacheDir = mkdtempSync(join(tmpdir(), 'kdelta-incomplete-'));
afterAll(() => rmSync(cacheDir, { recursive: true }));

const { rows } = JSON.parse(readFileSync(join(homeDir(), 'packages/stats/test/lkp-inputs.json'), 'utf8'))
  .incomplete as { rows: { program: string; raw: string }[] };

it.each(rows)('an aborted $program has no number, and certainly no 0', async ({ program, raw }) => {
  const samples = await parseWith(program, raw, cacheDir);
  expect(Object.keys(samples).filter((name) => name !== 'clients' && name !== 'procs')).toEqual([]);
});
