import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelArtifact } from '@kdelta/kernels';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { priorOf } from '../src/bisectPrior.ts';

let dir: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
    cwd: dir,
    encoding: 'utf8',
  }).trim();

function change(file: string): string {
  mkdirSync(join(dir, file, '..'), { recursive: true });
  writeFileSync(join(dir, file), String(Math.random()));
  git('add', '--', file);
  git('commit', '-q', '-m', file);
  return git('rev-parse', 'HEAD');
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kd-prior-'));
  git('init', '-q', '-b', 'main');
});
afterEach(() => rmSync(dir, { recursive: true }));

test('commits that touch no file of the build weigh little, merges a little more, the others are not named', async () => {
  const good = change('mm/memory.c');
  const compiled = change('mm/memory.c');
  const docs = change('Documentation/mm/a file.rst');
  const makefile = change('drivers/usb/Makefile');
  git('checkout', '-q', '-b', 'side', good);
  const driver = change('drivers/usb/host.c');
  git('checkout', '-q', 'main');
  git('merge', '-q', '--no-ff', '-m', 'merge', 'side');
  const bad = git('rev-parse', 'HEAD');
  const list = join(dir, 'sources');
  writeFileSync(list, 'mm/memory.c\ninclude/linux/mm.h\n');

  const shas = git('rev-list', '--parents', `${good}..${bad}`)
    .split('\n')
    .map((l) => l.split(' '));
  const range = shas.map(([sha, ...parents]) => ({
    sha: sha!,
    parents,
    subject: '',
    author_name: '',
    committed_at: new Date(),
  }));
  const prior = await priorOf(join(dir, '.git'), range, { good, bad }, { sources: list } as KernelArtifact);
  expect(prior).toEqual({ [docs]: 0.02, [driver]: 0.02, [bad]: 0.1 });
  expect(prior[compiled] ?? prior[makefile]).toBeUndefined();
});

test('without the list of sources every commit weighs the same', async () => {
  expect(await priorOf(dir, [], { good: 'a', bad: 'b' }, null)).toEqual({});
  const gone = { sources: join(dir, 'pruned') } as KernelArtifact;
  expect(await priorOf(dir, [], { good: 'a', bad: 'b' }, gone)).toEqual({});
});
