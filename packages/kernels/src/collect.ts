import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, cp, lstat, open, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { hash } from './deb.ts';
import { blank, hashLoaded, readBuildId, readSections } from './elf.ts';
import { BuildFailed } from './errors.ts';
import { hashRelocatable } from './relocatable.ts';
import type { Slot } from './slot.ts';
import type { KernelArtifact } from './types.ts';

/** More than any kernel with debug information takes; a file beyond is not one. */
const MOST_BYTES = 1.5 * 2 ** 30;

/**
 * Takes image, modules, config and source list out of a build folder whose processes are dead, into `dir`, and writes
 * `artifact.json`. The folder is a stranger's work: links in it that lead out are refused.
 */
export async function collectBuild(
  slot: Slot,
  dir: string,
  known: { buildKey: string; compiler: string; kconfigHash: string; buildMs: () => number },
): Promise<void> {
  const imagePath = (await exists(slot, 'arch/x86/boot/bzImage')) ? 'arch/x86/boot/bzImage' : 'arch/arm64/boot/Image';
  const image = await readInside(slot, imagePath);
  const vmlinux = await readInside(slot, 'vmlinux');
  const config = await readInside(slot, '.config');
  const release = (await readInside(slot, 'include/config/kernel.release')).toString('utf8').trim();
  if (!/^[0-9][A-Za-z0-9._+~-]{0,63}$/.test(release))
    throw new BuildFailed('build', `build left a strange release string: ${JSON.stringify(release)}`);
  const sections = readSections(vmlinux);
  if (!sections) throw new BuildFailed('build', 'build left a vmlinux that is no ELF file');

  await writeFile(join(dir, 'bzImage'), image);
  await writeFile(join(dir, 'config'), config);
  await copyFile(await inside(slot, 'System.map'), join(dir, 'System.map'));
  const modules = await copyModules(slot, dir);
  await writeFile(join(dir, 'sources'), `${(await listSources(slot)).join('\n')}\n`);

  const sum = createHash('sha256');
  const relocatable = await hashBeforeLink(slot, release, sum);
  await hashBootStub(slot, release, sum);
  await hashModules(join(dir, 'modules'), release, sum);
  const artifact: KernelArtifact = {
    buildKey: known.buildKey,
    dir: '.',
    image: 'bzImage',
    imageSha256: hash(image),
    ...(modules && { modules: 'modules' }),
    config: 'config',
    release,
    buildId: readBuildId(vmlinux, sections) ?? hash(image).slice(0, 40),
    loadHash: relocatable ? sum.digest('hex') : hashLoaded(vmlinux, sections, release, sum),
    compiler: known.compiler,
    kconfigHash: known.kconfigHash,
    sources: 'sources',
    log: 'log',
    buildMs: known.buildMs(),
  };
  await writeFile(join(dir, 'artifact.json'), `${JSON.stringify(artifact, null, 2)}\n`);
}

/** What goes into the last link: vmlinux.o, the objects that are added to it, and the script. False when they can't be read. */
async function hashBeforeLink(slot: Slot, release: string, sum: ReturnType<typeof createHash>): Promise<boolean> {
  if (!(await exists(slot, 'vmlinux.o'))) return false;
  const object = await readInside(slot, 'vmlinux.o');
  const sections = readSections(object);
  if (!sections || !hashRelocatable(object, sections, release, sum)) return false;
  for (const name of ['init/version-timestamp.o', '.btf.vmlinux.bin.o', 'arch/x86/kernel/vmlinux.lds']) {
    if (!(await exists(slot, name))) continue;
    const added = await readInside(slot, name);
    blank(added, release);
    sum.update(`${name} ${added.length}\n`).update(added);
  }
  return true;
}

/**
 * The code that unpacks vmlinux is in the image but not in vmlinux. Its objects are hashed whole, but for two: piggy.o is the packed
 * vmlinux, and header.o holds sizes that follow from it; of that one the source counts.
 */
async function hashBootStub(slot: Slot, release: string, sum: ReturnType<typeof createHash>): Promise<void> {
  for (const folder of ['arch/x86/boot', 'arch/x86/boot/compressed']) {
    if (!(await exists(slot, folder))) continue;
    for (const name of (await readdir(await inside(slot, folder))).sort()) {
      if (!name.endsWith('.o') || name === 'piggy.o' || name === 'header.o') continue;
      const object = await readInside(slot, `${folder}/${name}`);
      blank(object, release);
      sum.update(`${folder}/${name} ${object.length}\n`).update(object);
    }
  }
  const header = await open(join(slot.src, 'arch/x86/boot/header.S'), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    () => null,
  );
  if (!header) return;
  sum.update(await header.readFile());
  await header.close();
}

async function hashModules(dir: string, release: string, sum: ReturnType<typeof createHash>): Promise<void> {
  for (const path of await walk(dir)) {
    if (!path.endsWith('.ko')) continue;
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const contents = await file.readFile();
    await file.close();
    const sections = readSections(contents);
    sum.update(
      `${path.slice(path.lastIndexOf('/') + 1)} ${sections ? hashLoaded(contents, sections, release) : hash(contents)}\n`,
    );
  }
}

async function copyModules(slot: Slot, dir: string): Promise<boolean> {
  if (!(await exists(slot, '.kd-modules'))) return false;
  const from = await inside(slot, '.kd-modules');
  // `build` and `source` are links to folders of the builder.
  await cp(from, join(dir, 'modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: async (path) => !(await lstat(path)).isSymbolicLink(),
  });
  await rm(join(dir, 'modules/lib/modules/build'), { force: true });
  return true;
}

/** Sources and headers that took part, relative to the tree, from fixdep's .cmd files. */
async function listSources(slot: Slot): Promise<string[]> {
  const sources = new Set<string>();
  for (const path of await walk(await inside(slot, '.'))) {
    if (!path.endsWith('.cmd')) continue;
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
    if (!file) continue;
    const text = await file.readFile('latin1');
    await file.close();
    for (const match of text.matchAll(/(?<=[\s=(])\/src\/([^\s\\)]+\.(?:c|h|S|lds|tbl|uni|asn1|dts|sh|awk|pl))/g))
      sources.add(normalize(match[1]!));
  }
  return [...sources].sort();
}

function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/**
 * Whether a commit that changes `paths` can change a kernel built from `sources` (an artifact's list): yes for its sources, and for whatever
 * steers the build (Makefiles, Kconfig, scripts, tools, headers of the generated kind), whose effect no list shows.
 */
export function canAffect(sources: ReadonlySet<string>, paths: string[]): boolean {
  const steers =
    /(^|\/)(Makefile[^/]*|Kbuild[^/]*|Kconfig[^/]*)$|^(scripts|tools|usr|certs)\/|\.(lds\.S|lds|sh|tbl|include)$|^\.|^include\/(asm-generic\/|config\/)/;
  return paths.some((path) => sources.has(path) || steers.test(path));
}

async function walk(dir: string): Promise<string[]> {
  const found: string[] = [];
  const open = [dir];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found.sort();
}

async function exists(slot: Slot, name: string): Promise<boolean> {
  return (await lstat(join(slot.build, name)).catch(() => null)) !== null;
}

/** The real path of a file of the build folder. Throws when it lies outside or is something else than a file or folder. */
async function inside(slot: Slot, name: string): Promise<string> {
  const root = await realpath(slot.build);
  const path = await realpath(join(root, name)).catch(() => {
    throw new BuildFailed('build', `make ended well but left no ${name}`);
  });
  if (path !== root && !path.startsWith(root + sep))
    throw new BuildFailed('build', `${name} leads out of the build folder`);
  const stat = await lstat(path);
  if (!stat.isFile() && !stat.isDirectory()) throw new BuildFailed('build', `${name} is not a file`);
  return path;
}

async function readInside(slot: Slot, name: string): Promise<Buffer> {
  const file = await open(await inside(slot, name), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > MOST_BYTES) throw new BuildFailed('build', `${name} has ${size} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
