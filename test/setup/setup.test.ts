import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { afterEach, beforeEach, expect, test } from 'vitest';

// The set-up program against stand-ins for dpkg-query, apt-get, sudo and npm that write down how they were called:
// really installing packages from a test would change the machine.

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kd-setup-'));
  mkdirSync(join(dir, 'bin'));
  mkdirSync(join(dir, 'clone', 'scripts'), { recursive: true });
  cpSync(join(homeDir(), 'scripts', 'setup.mjs'), join(dir, 'clone', 'scripts', 'setup.mjs'));
  writeFileSync(join(dir, 'clone', 'package-lock.json'), '{}');
});
afterEach(() => rmSync(dir, { recursive: true }));

function standIn(name: string, script: string) {
  const file = join(dir, 'bin', name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function setUp(purpose = 'demo') {
  return spawnSync(process.execPath, [join(dir, 'clone', 'scripts', 'setup.mjs'), purpose], {
    encoding: 'utf8',
    env: { PATH: `${join(dir, 'bin')}:/bin`, LOG: join(dir, 'log'), INSTALLED: join(dir, 'installed') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** dpkg that knows the packages named in $INSTALLED, apt that adds to it, npm that makes node_modules. */
function debian() {
  writeFileSync(join(dir, 'installed'), 'git\n');
  standIn(
    'dpkg-query',
    'for last; do :; done; case "$last" in *"*"*) grep "^linux-source" "$INSTALLED" | sed "s/$/ installed/";; ' +
      '*) grep -qx "$last" "$INSTALLED" && printf installed;; esac',
  );
  standIn('apt-cache', 'printf "linux-source-6.1\\nlinux-source-6.12\\nlinux-source\\n"');
  standIn(
    'apt-get',
    'echo "apt-get $*" >> "$LOG"; [ "$1" = install ] || exit 0; shift; for p; do echo "$p" >> "$INSTALLED"; done',
  );
  // Where the tests don't run as root the set-up goes through sudo.
  standIn('sudo', 'while [ "$1" = -n ]; do shift; done; exec "$@"');
  standIn('npm', 'echo "npm $*" >> "$LOG"; mkdir -p node_modules');
}

test('lists the missing packages before it installs them, and a second run does nothing', () => {
  debian();
  const first = setUp();
  expect(first.stderr).toBe('');
  expect(first.status).toBe(0);
  expect(first.stdout).toMatch(/will install:\n {2}Debian packages: qemu-system-x86 .*linux-source/);
  expect(first.stdout).not.toMatch(/Debian packages:.* git /);
  const log = readFileSync(join(dir, 'log'), 'utf8');
  expect(log).toMatch(/apt-get install .*qemu-system-x86 .*linux-source-6\.12/);
  expect(log).toMatch(/npm ci/);

  rmSync(join(dir, 'log'));
  const second = setUp();
  expect(second.status).toBe(0);
  expect(second.stdout).toBe('');
  expect(() => readFileSync(join(dir, 'log'))).toThrow();
});

test('a changed lock file runs npm ci again', () => {
  debian();
  setUp();
  writeFileSync(join(dir, 'clone', 'package-lock.json'), '{"changed": true}');
  expect(setUp().stdout).toMatch(/npm packages/);
});

test('where apt is missing it names the needed programs and ends with status 2', () => {
  standIn('make', '');
  const r = spawnSync(process.execPath, [join(dir, 'clone', 'scripts', 'setup.mjs'), 'demo'], {
    encoding: 'utf8',
    env: { PATH: join(dir, 'bin') },
  });
  expect(r.status).toBe(2);
  expect(r.stderr).toMatch(/KD_SETUP_NO_APT/);
  expect(r.stderr).toMatch(/qemu-system-x86_64\n/);
  expect(r.stderr).toMatch(/make {2}\(found\)/);
});

test('an apt that fails stops the set-up with status 2 and what to do', () => {
  debian();
  standIn('apt-get', 'echo "E: no network" >&2; exit 100');
  const r = setUp();
  expect(r.status).toBe(2);
  expect(r.stderr).toMatch(/KD_SETUP_APT/);
});
