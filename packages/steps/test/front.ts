import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import type { HostDriver } from '@kdelta/hosts';
import type { HostFile, TreeConfig } from '@kdelta/jobs';
import type { BuildOutcome, KernelSpec } from '@kdelta/kernels';
import { buildRegistry } from '@kdelta/matrix';
import { loadPrograms } from '@kdelta/programs';
import type { BootHost, BootResult, StepContext } from '../src/index.ts';

/*
 * A stand-in for compiler and hosts on a real git repository: a commit's file `speed` says how its kernel runs. Lines
 * that begin with # are comments: they change the commit and not the kernel. `error` doesn't compile, `panic` doesn't boot.
 */

export interface Repo {
  dir: string;
  /** Takes the repository away again. */
  remove(): void;
  commit(speed: string, subject?: string): string;
  git(...args: string[]): string;
}

export function makeRepo(): Repo {
  const dir = mkdtempSync(join(tmpdir(), 'kd-repo-'));
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
      cwd: dir,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  git('init', '-q', '-b', 'main');
  return {
    dir,
    git,
    remove: () => rmSync(dir, { recursive: true, force: true }),
    commit(speed, subject = speed) {
      writeFileSync(join(dir, 'speed'), `${speed}\n`);
      git('add', '.');
      git('commit', '-q', '--allow-empty', '-m', subject);
      return git('rev-parse', 'HEAD');
    },
  };
}

export function treeConfig(repo: Repo, over: Partial<TreeConfig> = {}): TreeConfig {
  return {
    name: 'demo',
    url: repo.dir,
    branches: ['main'],
    baseline: 'base',
    pollSeconds: 1,
    kconfig: { base: 'allnoconfig', fragments: ['qemu-x86_64'] },
    jobs: ['pft'],
    hosts: ['qemu-icount'],
    bisect: { enabled: false, budget: 10, certainty: 0.95 },
    mail: {
      mode: 'draft',
      to: ['author'],
      cc: [],
      allow: [],
      perDay: 20,
      charset: 'utf-8',
      attachToLists: false,
    },
    ...over,
  };
}

/** Reads the kernel's source out of the mirror. */
export async function fakeBuild(spec: KernelSpec, cache: string): Promise<BuildOutcome> {
  if (spec.kind !== 'kbuild') throw new Error('only commits here');
  const source = execFileSync('git', [`--git-dir=${spec.repo}`, 'show', `${spec.sha}:speed`], { encoding: 'utf8' });
  const code = source
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .join('\n');
  const dir = join(cache, spec.sha);
  mkdirSync(dir, { recursive: true });
  const log = join(dir, 'log');
  writeFileSync(log, `CC speed\n${code}\n`);
  if (code === 'error')
    return { kind: 'failed', failureClass: 'build', message: 'speed:1: error: no', excerpt: code, log };
  writeFileSync(join(dir, 'image'), code);
  writeFileSync(join(dir, 'config'), 'CONFIG_SMP=y\n');
  const loadHash = createHash('sha256').update(code).digest('hex');
  const key = spec.sha.slice(0, 12);
  return {
    kind: 'built',
    cached: false,
    artifact: {
      buildKey: key,
      dir,
      image: join(dir, 'image'),
      imageSha256: loadHash,
      config: join(dir, 'config'),
      release: `6.12.0-kd${key}`,
      buildId: key,
      loadHash,
      compiler: 'cc',
      kconfigHash: 'k',
      log,
      buildMs: 1,
    },
  };
}

/** One line of pft's output per iteration, as programs/pft prints it. */
export function pftOutput(perCpu: number, all = perCpu): string {
  return `   0    1    1      0.01s     0.76s   0.78s  ${perCpu.toFixed(3)}  ${all.toFixed(3)}\n`;
}

/** The result of a boot of this kernel at `speed` (faults per second and CPU, and of all CPUs where it's another number), with its files in `dir`. */
export function bootResult(dir: string, bootId: string, speed: string): BootResult {
  const blank: BootResult = { failure: null, evidence: null, timeline: [], environment: {}, outputs: [], files: [] };
  if (speed === 'panic') {
    const message = 'Kernel panic - not syncing';
    return { ...blank, failure: { class: 'boot', code: 'KD_BOOT_FAILED', message, excerpt: message } };
  }
  if (speed === 'infra')
    return { ...blank, failure: { class: 'infra', code: 'KD_HOST_FAILED', message: 'no route to host' } };
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'pft');
  const [perCpu = 0, all] = speed.split(' ').map((rate) => Number(rate) * (1 + Math.random() * 1e-4));
  writeFileSync(path, speed === 'cut' ? '   0    1' : pftOutput(perCpu, all));
  return {
    ...blank,
    evidence: { bootId, release: '6.12', cmdline: '', tainted: 0 },
    timeline: [{ at: 1, what: 'boot start' }],
    outputs: [{ program: 'pft', path }],
    files: [{ name: 'pft', path }],
  };
}

/** Boots at once, and notes each in `witness`. */
export function fakeBoots(witness: string, change: (speed: string) => string = (speed) => speed): BootHost {
  return async (work) => {
    if (work.resume) return null;
    const speed = change(readFileSync(work.kernel.image, 'utf8'));
    appendFileSync(witness, `${work.host.name} ${speed} ${work.token}\n`);
    return bootResult(work.dir, work.token, speed);
  };
}

export const fakeDriver = (host: HostFile): HostDriver =>
  ({ host, versions: async () => ({ rootfs: 'r1' }) }) as unknown as HostDriver;

/** What createTestContext needs for the front half. */
export async function frontParts(state: string, repo: Repo): Promise<Partial<StepContext>> {
  const programs = await loadPrograms([join(homeDir(), 'programs')]);
  return {
    programs,
    metrics: buildRegistry(programs.values()),
    config: {
      file: '',
      url: 'http://127.0.0.1',
      listen: { host: '127.0.0.1', port: 0 },
      mail: null,
      reading: 'open',
      trees: [treeConfig(repo)],
    },
    dirs: { home: homeDir(), state, cache: join(state, 'cache') },
    buildKernel: (spec) => fakeBuild(spec, join(state, 'cache')),
    driverOf: fakeDriver,
    bootHost: fakeBoots(join(state, 'witness')),
  };
}
