import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ministatCommand } from '../src/ministat.ts';
import { runCommand } from './runCommand.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-ministat-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

// The two sets of ministat's manual page.
const iguana = file('iguana', '50\n200\n150\n400\n750\n400\n150\n');
const chameleon = file('chameleon', '150\n400\n720\n500\n930\n');

const run = (...args: string[]) => runCommand(ministatCommand(), args);

it("prints the manual page's numbers, with the plot and without", async () => {
  const { out, status } = await run('-n', iguana, chameleon);
  expect(status).toBe(0);
  expect(out).toMatch(/^x +7 +50 +750 +200 +300 +238\.04761$/m);
  expect(out).toMatch(/^\+ +5 +150 +930 +500 +540 +299\.08193$/m);
  expect(out).toMatch(/No difference proven at 95\.0% confidence/);
  expect(out).not.toMatch(/^\+-{20,}\+$/m);
  expect((await run(iguana, chameleon)).out).toMatch(/^\+-{20,}\+$/m);
});

it('--json is one line of JSON', async () => {
  const { out, status } = await run('--json', iguana, chameleon);
  expect(status).toBe(0);
  expect(out.trimEnd()).not.toContain('\n');
  const { sets, comparisons } = JSON.parse(out);
  expect(sets.map((set: { n: number; avg: number }) => [set.n, set.avg])).toEqual([
    [7, 300],
    [5, 540],
  ]);
  expect(comparisons[0]).toMatchObject({ difference: 240, df: 10, significant: false });
});

it.each([
  ['a file that is not there', ['/nowhere/at/all']],
  ['a level without a table', ['-c', '42', iguana]],
  ['a file without numbers', [file('words', 'one\ntwo\n')]],
])('ends with status 2 and one line for %s', async (_, args) => {
  const { out, err, status } = await run(...args);
  expect([out, status]).toEqual(['', 2]);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
});
