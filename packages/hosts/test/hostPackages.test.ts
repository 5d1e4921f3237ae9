import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostFile } from '@kdelta/jobs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readyPackages } from '../src/hostPackages.ts';
import type { Shell } from '../src/types.ts';

/* This machine's sh, with a dpkg-query and an apt-get of our own: nothing is to be installed here. */
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-packages-'));
  script('dpkg-query', '[ "$3" = fio ] && printf installed || exit 1');
  script(
    'apt-get',
    `echo "$*" >>${dir}/installed; [ ! -e ${dir}/broken ] || { echo "E: Unable to locate" >&2; exit 100; }`,
  );
});
afterEach(() => rmSync(dir, { recursive: true }));

function script(name: string, text: string): void {
  writeFileSync(join(dir, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(dir, name), 0o755);
}

const shell: Shell = {
  exec: async (command) => {
    const ran = spawnSync('/bin/sh', ['-c', command], { env: { PATH: dir }, encoding: 'buffer' });
    return { status: ran.status ?? 1, stdout: ran.stdout, stderr: ran.stderr.toString() };
  },
  download: async () => {},
  close: () => {},
};
const host = (packages?: HostFile['packages']) => ({ name: 'lab', file: 'hosts/lab.yaml', packages }) as HostFile;

it('names in one line the packages that a machine lacks, and how to get them', async () => {
  await expect(readyPackages(shell, host(), ['fio', 'no-such-bench', 'nor-this'])).rejects.toMatchObject({
    code: 'KD_HOST_PACKAGES',
    failureClass: 'infra',
    message:
      'lab lacks no-such-bench, nor-this: run `apt-get install -y --no-install-recommends no-such-bench nor-this` there, or say `packages: install` in hosts/lab.yaml',
  });
  expect(existsSync(join(dir, 'installed'))).toBe(false);
});

it('takes a program of the package’s name for it, and asks nothing where the file says trust', async () => {
  script('own-bench', 'true');
  await readyPackages(shell, host(), ['fio', 'own-bench']);
  await readyPackages(shell, host('trust'), ['no-such-bench']);
});

it('installs what is missing where the file allows it, and tells why that failed', async () => {
  await readyPackages(shell, host('install'), ['fio', 'no-such-bench']);
  expect(readFileSync(join(dir, 'installed'), 'utf8')).toBe('install -y --no-install-recommends no-such-bench\n');
  writeFileSync(join(dir, 'broken'), '');
  await expect(readyPackages(shell, host('install'), ['no-such-bench'])).rejects.toThrow(
    "lab can't install no-such-bench: E: Unable to locate",
  );
});
