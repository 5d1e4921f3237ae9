import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { parseConfig } from '@kdelta/jobs';
import { loadPrograms, type Programs } from '@kdelta/programs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkTrees } from '../src/files.ts';

const example = readFileSync(join(homeDir(), 'kdelta.example.yaml'), 'utf8');
let programs: Programs;
let file: string;
beforeAll(async () => {
  programs = await loadPrograms([join(homeDir(), 'programs')]);
  file = join(mkdtempSync(join(tmpdir(), 'kd-trees-')), 'kdelta.yaml');
});
afterAll(() => rmSync(join(file, '..'), { recursive: true, force: true }));

/** The example with one line changed. */
function check(from: RegExp, to: string): Promise<void> {
  const text = example.replace(from, to);
  writeFileSync(file, text);
  return checkTrees(homeDir(), {}, parseConfig(text, file), programs);
}

/** Lines are those of kdelta.example.yaml. */
const lineOf = (start: string) => example.split('\n').findIndex((line) => line.trimStart().startsWith(start)) + 1;

test('the example names what is there', async () => {
  await expect(check(/^$/, '')).resolves.toBeUndefined();
});

test.each([
  [/jobs: .*/, 'jobs: [dbench, pfft]', 'jobs:', 'trees.0.jobs: no job pfft; did you mean pft?'],
  [/hosts: .*/, 'hosts: [qemu-icont]', 'hosts:', 'trees.0.hosts: no host qemu-icont; did you mean qemu-icount?'],
  [/kconfig: .*/, 'kconfig: ../../etc/passwd', 'kconfig:', 'trees.0.kconfig: not a kconfig name: ../../etc/passwd'],
  [/url: https.*/, 'url: "ext::sh -c id"', 'url: https', 'trees.0.url: tree URL "ext::sh -c id"'],
])('%s made %s is told with file, line and key', async (from, to, key, message) => {
  await expect(check(from, to)).rejects.toMatchObject({
    exitStatus: 2,
    message: expect.stringContaining(`${file}:${lineOf(key)}: ${message}`),
  });
});
