import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBzImage } from './bzimage.ts';
import { fetchEntry } from './cache.ts';
import { runCommand } from './command.ts';
import { KernelError } from './errors.ts';
import type { BuildContext, BuildOutcome, KernelArtifact } from './types.ts';

/** Changes when what a package's artifact holds does. */
const RECIPE = 'deb-1';

export interface ResolvedPackage {
  /** The package asked for, and its version. */
  name: string;
  version: string;
  /** It and the packages it names that hold its image and modules, `name=version`. */
  packages: string[];
}

/**
 * A kernel from a Debian or Ubuntu package: found with apt-cache, downloaded and unpacked into the cache, never
 * installed; needs no root. Fails with class `infra` when the package can't be had, listing names that are near.
 */
export async function fetchDeb(spec: { package: string; version?: string }, ctx: BuildContext): Promise<BuildOutcome> {
  const startMs = performance.now();
  const step = (phase: 'resolve' | 'download' | 'unpack', message: string) => ctx.progress?.({ phase, message });
  try {
    step('resolve', spec.package);
    const resolved = await resolvePackage(spec.package, spec.version, ctx.signal);
    const buildKey = hash(`${RECIPE}\n${resolved.packages.join('\n')}`).slice(0, 12);
    const { path, made } = await fetchEntry(
      ctx.cacheDir,
      'kernels',
      buildKey,
      async (dir) => {
        const debs: string[] = [];
        for (const name of resolved.packages) {
          step('download', name);
          debs.push(await downloadDeb(name, ctx));
        }
        step('unpack', resolved.packages.join(' '));
        await unpack(dir, debs, buildKey, ctx, startMs);
      },
      ctx.signal,
    );
    return { kind: 'built', artifact: await readArtifact(path), cached: !made };
  } catch (error) {
    if (!(error instanceof KernelError) || error.code === 'KD_ABORTED') throw error;
    return { kind: 'failed', failureClass: 'infra', message: error.message, excerpt: error.message, log: null };
  }
}

/** Reads `artifact.json` of a cached kernel; its paths are relative to the folder there, absolute here. */
export async function readArtifact(dir: string): Promise<KernelArtifact> {
  const raw = JSON.parse(await readFile(join(dir, 'artifact.json'), 'utf8')) as KernelArtifact;
  const absolute = (name: string) => join(dir, name);
  return {
    ...raw,
    dir,
    image: absolute(raw.image),
    ...(raw.modules !== undefined && { modules: absolute(raw.modules) }),
    config: absolute(raw.config),
    ...(raw.sources !== undefined && { sources: absolute(raw.sources) }),
    log: absolute(raw.log),
  };
}

/**
 * Follows a meta package (linux-image-6.12-cloud-amd64) to the packages that hold the image and, where they are split
 * (Ubuntu), the modules. Throws KD_KERNEL_UNKNOWN.
 */
export async function resolvePackage(
  name: string,
  version: string | undefined,
  signal?: AbortSignal,
): Promise<ResolvedPackage> {
  if (!/^[a-z0-9][a-z0-9+.-]+$/.test(name)) throw new KernelError('KD_KERNEL_UNKNOWN', `not a package name: ${name}`);
  if (version !== undefined && !/^[A-Za-z0-9.+~:-]+$/.test(version)) {
    throw new KernelError('KD_KERNEL_UNKNOWN', `not a package version: ${version}`);
  }
  const found = new Map<string, string>();
  const wanted: [string, string | undefined][] = [[name, version]];
  let top = version ?? '';
  while (wanted.length > 0) {
    const [pkg, ver] = wanted.shift()!;
    if (found.has(pkg)) continue;
    const record = await showPackage(pkg, ver, signal);
    if (!record) {
      if (pkg === name) throw new KernelError('KD_KERNEL_UNKNOWN', await unknownMessage(name, version, signal));
      continue;
    }
    found.set(pkg, record.version);
    if (pkg === name) top = record.version;
    for (const [dependency, exact] of record.depends) {
      if (/^linux-(image|modules)-(unsigned-)?\d/.test(dependency)) wanted.push([dependency, exact]);
    }
  }
  return { name, version: top, packages: [...found].map(([pkg, ver]) => `${pkg}=${ver}`) };
}

async function showPackage(name: string, version: string | undefined, signal?: AbortSignal) {
  const which = version === undefined ? name : `${name}=${version}`;
  const shown = await runCommand('apt-cache', ['--no-all-versions', 'show', '--', which], { signal });
  if (shown.code !== 0) return null;
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(shown.stdout)?.[1];
  const found = field('Version');
  if (!found || field('Package') !== name) return null;
  const depends = (field('Depends') ?? '').split(/\s*,\s*/).map((part): [string, string | undefined] => {
    const first = part.split('|')[0]!.trim();
    return [first.split(/[\s:]/)[0]!, /\(= ([^)]+)\)/.exec(first)?.[1]];
  });
  return { version: found, depends };
}

async function unknownMessage(name: string, version: string | undefined, signal?: AbortSignal): Promise<string> {
  const all = (await runCommand('apt-cache', ['pkgnames', 'linux-image-'], { signal })).stdout
    .split('\n')
    .filter(Boolean);
  if (all.includes(name)) {
    const versions = (await runCommand('apt-cache', ['madison', '--', name], { signal })).stdout
      .split('\n')
      .map((line) => line.split('|')[1]?.trim())
      .filter(Boolean);
    return `package ${name} has no version ${version}; apt knows ${versions.join(', ') || 'none'}`;
  }
  const near = all
    .filter((other) => !/-(dbg|unsigned)$|-dbgsym$/.test(other))
    .map((other) => [distance(name, other), other] as const)
    .sort((a, b) => a[0] - b[0] || a[1].localeCompare(b[1]))
    .slice(0, 5)
    .map(([, other]) => other);
  if (near.length === 0) return `apt knows no package ${name}, nor any linux-image: run apt-get update`;
  return `apt knows no package ${name}; near: ${near.join(', ')}`;
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}

/** Downloads `name=version` into the cache once. Returns the .deb's path. */
async function downloadDeb(which: string, ctx: BuildContext): Promise<string> {
  const key = which.replace('=', '_').replaceAll(':', '~');
  const { path } = await fetchEntry(
    ctx.cacheDir,
    'debs',
    `${key}.deb`,
    async (temporary) => {
      const folder = `${temporary}.d`;
      await mkdir(folder, { recursive: true });
      try {
        // apt's own download user can't enter a home folder.
        const got = await runCommand('apt-get', ['-o', 'APT::Sandbox::User=root', '-q', 'download', '--', which], {
          cwd: folder,
          env: { http_proxy: process.env.http_proxy, https_proxy: process.env.https_proxy },
          signal: ctx.signal,
        });
        const deb = (await readdir(folder)).find((name) => name.endsWith('.deb'));
        if (got.code !== 0 || !deb) {
          throw new KernelError('KD_KERNEL_UNKNOWN', `apt-get download ${which}: ${lastError(got.stderr)}`);
        }
        await rename(join(folder, deb), temporary);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    ctx.signal,
  );
  return path;
}

function lastError(stderr: string): string {
  const errors = stderr.split('\n').filter((line) => line.startsWith('E: '));
  return (errors[0] ?? stderr.trim().split('\n').pop() ?? 'failed').replace(/^E: /, '');
}

async function unpack(
  dir: string,
  debs: string[],
  buildKey: string,
  ctx: BuildContext,
  startMs: number,
): Promise<void> {
  const root = join(dir, 'root');
  await mkdir(root, { recursive: true });
  for (const deb of debs) {
    const done = await runCommand('dpkg-deb', ['-x', deb, root], { signal: ctx.signal });
    if (done.code !== 0) throw new KernelError('KD_CACHE_DIR', `dpkg-deb -x ${deb}: ${done.stderr.trim()}`);
  }
  const boot = await readdir(join(root, 'boot')).catch(() => [] as string[]);
  const vmlinuz = boot.find((name) => name.startsWith('vmlinuz-'));
  if (!vmlinuz)
    throw new KernelError('KD_KERNEL_UNKNOWN', `no boot/vmlinuz-* in ${debs.join(', ')}: not a kernel image package`);
  const release = vmlinuz.slice('vmlinuz-'.length);
  await copyFile(join(root, 'boot', vmlinuz), join(dir, 'bzImage'));
  await chmod(join(dir, 'bzImage'), 0o644);
  await copyFile(join(root, 'boot', `config-${release}`), join(dir, 'config'));
  const modules = await moveModules(root, dir, release);
  await rm(root, { recursive: true, force: true });
  if (modules)
    await runCommand('depmod', ['-b', join(dir, 'modules'), release], { signal: ctx.signal }).catch(() => null);

  const image = await readFile(join(dir, 'bzImage'));
  const facts = await readBzImage(image, ctx.signal);
  const config = await readFile(join(dir, 'config'), 'utf8');
  const imageSha256 = hash(image);
  await writeFile(join(dir, 'log'), `${debs.map((deb) => deb.split('/').pop()).join('\n')}\n`);
  const artifact: KernelArtifact = {
    buildKey,
    dir: '.',
    image: 'bzImage',
    imageSha256,
    ...(modules && { modules: 'modules' }),
    config: 'config',
    release,
    buildId: facts?.buildId ?? imageSha256.slice(0, 40),
    loadHash: facts?.loadHash ?? `image:${imageSha256}`,
    compiler: compilerName(/^CONFIG_CC_VERSION_TEXT="(.*)"$/m.exec(config)?.[1] ?? ''),
    kconfigHash: hash(config),
    log: 'log',
    buildMs: Math.round(performance.now() - startMs),
  };
  await writeFile(join(dir, 'artifact.json'), `${JSON.stringify(artifact, null, 2)}\n`);
}

async function moveModules(root: string, dir: string, release: string): Promise<boolean> {
  for (const place of ['lib/modules', 'usr/lib/modules']) {
    const from = join(root, place, release);
    const there = await access(from).then(
      () => true,
      () => false,
    );
    if (!there) continue;
    await mkdir(join(dir, 'modules/lib/modules'), { recursive: true });
    await rename(from, join(dir, 'modules/lib/modules', release));
    return true;
  }
  return false;
}

/** LKP's short form, `gcc-12`, from a compiler's version line. */
export function compilerName(versionText: string): string {
  const program = /clang/.test(versionText) ? 'clang' : 'gcc';
  const major =
    /(?:clang version |\) |gcc[^\s]* )(\d+)\.\d+/.exec(versionText)?.[1] ?? /(\d+)\.\d+\.\d+/.exec(versionText)?.[1];
  return major ? `${program}-${major}` : program;
}

export function hash(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** sha256 of a file, as hex. */
export async function hashFile(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of createReadStream(path)) sum.update(chunk as Buffer);
  return sum.digest('hex');
}
