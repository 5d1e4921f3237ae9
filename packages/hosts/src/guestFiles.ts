import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fetchEntry, type KernelArtifact } from '@kdelta/kernels';
import { type CpioEntry, writeCpio } from './cpio.ts';
import { BootError } from './errors.ts';
import { BOOT_DRIVERS, INITRD_INIT } from './guest.ts';
import type { Rootfs } from './rootfs.ts';
import { runTool } from './tool.ts';

/** Changes when the making of the files does. */
const RECIPE = '1';

/** What a guest needs of a kernel beside its image; both absent for a kernel that has all built in. */
export interface GuestFiles {
  initrd?: string;
  /** Read-only ext4 with the content of /lib/modules. */
  modulesDisk?: string;
}

/**
 * Initrd and modules disk of a kernel, made once and kept in the cache. A kernel without modules, or with all boot drivers
 * built in, gets no initrd: it starts a second sooner under emulation.
 */
export async function makeGuestFiles(
  cacheDir: string,
  kernel: KernelArtifact,
  rootfs: Rootfs,
  signal?: AbortSignal,
): Promise<GuestFiles> {
  if (!kernel.modules || !existsSync(join(kernel.modules, 'lib/modules', kernel.release))) return {};
  const modules = kernel.modules;
  const { path } = await fetchEntry(
    cacheDir,
    'guest-files',
    `${kernel.buildKey}-${RECIPE}`,
    (dir) => build(dir, kernel, modules, rootfs, signal),
    signal,
  );
  const initrd = join(path, 'initrd');
  return { modulesDisk: join(path, 'modules.ext4'), ...(existsSync(initrd) && { initrd }) };
}

async function build(
  dir: string,
  kernel: KernelArtifact,
  modules: string,
  rootfs: Rootfs,
  signal?: AbortSignal,
): Promise<void> {
  const tree = join(dir, 'tree');
  const release = join(tree, 'lib/modules', kernel.release);
  await mkdir(join(tree, 'lib/modules'), { recursive: true });
  await cp(join(modules, 'lib/modules', kernel.release), release, { recursive: true, verbatimSymlinks: true });
  await rm(join(release, 'build'), { force: true });
  await rm(join(release, 'source'), { force: true });
  // The artifact is never changed, and packages come without modules.dep.
  await runTool('depmod', ['-b', tree, kernel.release], { signal });

  const config = await readFile(kernel.config, 'utf8');
  const needed = BOOT_DRIVERS.filter(({ option }) => new RegExp(`^${option}=m$`, 'm').test(config)).map(
    (d) => d.module,
  );
  if (needed.length > 0) {
    const order = loadOrder(await readFile(join(release, 'modules.dep'), 'utf8'), needed);
    await writeFile(join(dir, 'initrd'), await makeInitrd(release, order, rootfs, signal));
  }

  const megabytes = Math.ceil(Number((await runTool('du', ['-sm', tree], { signal })).split('\t')[0]) * 1.1) + 8;
  const image = join(dir, 'modules.ext4');
  await runTool('truncate', ['-s', `${megabytes}M`, image], { signal });
  await runTool(
    'mke2fs',
    [
      '-q',
      '-F',
      '-t',
      'ext4',
      '-m',
      '0',
      '-O',
      '^has_journal',
      '-E',
      'lazy_itable_init=0,root_owner=0:0',
      '-d',
      join(tree, 'lib/modules'),
      image,
    ],
    { signal },
  );
  await rm(tree, { recursive: true, force: true });
}

/** Paths in modules.dep's words, each after those it needs. Throws KD_HOST_SETUP for a driver that isn't there. */
export function loadOrder(modulesDep: string, names: string[]): string[] {
  const needs = new Map<string, string[]>();
  for (const line of modulesDep.split('\n')) {
    const [file, rest] = line.split(':');
    if (file) needs.set(file, rest?.trim() ? rest.trim().split(/\s+/) : []);
  }
  const order: string[] = [];
  for (const name of names) {
    const file = [...needs.keys()].find((path) => moduleName(path) === name);
    if (!file)
      throw new BootError(
        'KD_HOST_SETUP',
        'infra',
        `the kernel's config makes ${name} a module, but its modules lack it`,
      );
    // modules.dep lists all needed modules, the deepest last.
    for (const path of [...[...needs.get(file)!].reverse(), file]) if (!order.includes(path)) order.push(path);
  }
  return order;
}

const moduleName = (path: string): string =>
  basename(path)
    .replace(/\.ko(\.(xz|zst|gz))?$/, '')
    .replaceAll('-', '_');

async function makeInitrd(release: string, order: string[], rootfs: Rootfs, signal?: AbortSignal): Promise<Buffer> {
  const entries: CpioEntry[] = ['bin', 'dev', 'root', 'modules'].map((path) => ({ path, mode: 'folder' }));
  entries.push({ path: 'bin/busybox', mode: 'executable', content: await readFile(rootfs.busybox) });
  entries.push({ path: 'init', mode: 'executable', content: Buffer.from(INITRD_INIT) });
  const names: string[] = [];
  for (const path of order) {
    const name = `${moduleName(path)}.ko`;
    names.push(name);
    entries.push({ path: `modules/${name}`, mode: 'file', content: await unpacked(join(release, path), signal) });
  }
  entries.push({ path: 'modules/order', mode: 'file', content: Buffer.from(`${names.join('\n')}\n`) });
  return writeCpio(entries);
}

/** A module as the kernel's loader takes it; unpacked here, where that costs nothing. */
async function unpacked(file: string, signal?: AbortSignal): Promise<Buffer> {
  const tool = { xz: ['xz', '-dk'], zst: ['zstd', '-dq'], gz: ['gzip', '-dk'] }[
    /\.ko\.(xz|zst|gz)$/.exec(file)?.[1] ?? ''
  ];
  if (!tool) return await readFile(file);
  await runTool(tool[0]!, [...tool.slice(1), file], { signal });
  return await readFile(file.replace(/\.(xz|zst|gz)$/, ''));
}
