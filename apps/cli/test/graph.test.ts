import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphCommand } from '../src/graph.ts';
import { runCommand } from './runCommand.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-graph-'));
  for (const name of ['old', 'new']) {
    const data = join(dir, name, 'mapanon-data/1/mapanon-');
    mkdirSync(join(dir, name, 'mapanon-data/1'), { recursive: true });
    writeFileSync(`${data}time.data`, '0 1.5\n1 2.5\n');
    writeFileSync(`${data}pagemap.data`, '0 1 0\n1 0 1\n');
    writeFileSync(`${data}refcount.data`, '0 1\n1 1\n');
    writeFileSync(`${data}age.data`, '0 1\n1 0\n');
    const meminfo = (time: number) =>
      `time: ${time}\nMemFree: 60 kB\nBuffers: 2 kB\nCached: 30 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\nSReclaimable: 4 kB\n`;
    writeFileSync(join(dir, name, 'meminfo'), meminfo(1) + meminfo(2));
  }
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const run = (...args: string[]) => runCommand(graphCommand(), ['mapanon', ...args]);

it('draws the raw files of two boots side by side, whether the boot’s folder or the instance’s is named', async () => {
  const out = join(dir, 'page.html');
  const { status } = await run(`6.1=${join(dir, 'old')}`, `6.12=${join(dir, 'new/mapanon-data/1')}`, '-o', out);
  expect(status).toBe(0);
  const page = readFileSync(out, 'utf8');
  for (const name of ['6.1', '6.12'])
    for (const graph of ['access time, unscaled', 'presence over age', 'vmstat (kB)'])
      expect(page).toContain(`aria-label="${name}: ${graph}`);
});

it('names the file that is missing or no table of numbers, with status 2', async () => {
  const data = join(dir, 'new/mapanon-data/1/mapanon-age.data');
  writeFileSync(data, '0 x\n1 0\n');
  expect(await run(`a=${join(dir, 'new')}`, '-o', join(dir, 'x.html'))).toMatchObject({
    err: expect.stringContaining('mapanon-*.data: age, line 1: not 2 numbers'),
    status: 2,
  });
  rmSync(data);
  expect(await run(`a=${join(dir, 'new')}`)).toMatchObject({ err: `kdelta: ${data}: no such file\n`, status: 2 });
  expect(await run(`a=${dir}`)).toMatchObject({ err: `kdelta: ${dir}: no mapanon data (<prefix>-pagemap.data)\n` });
});
