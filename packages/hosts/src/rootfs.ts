import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchEntry } from '@kdelta/kernels';
import ssh2 from 'ssh2';
import { BootError } from './errors.ts';
import { BASE_PACKAGES, INIT, SSHD_CONFIG } from './guest.ts';
import { runTool } from './tool.ts';

/** Changes when the image's making does. */
const RECIPE = 'rootfs-1';

export interface Rootfs {
  dir: string;
  /** ext4; never written to: guests get a snapshot. */
  image: string;
  /** 12 hex digits over every package's version and our own files: equal keys are the same userspace. */
  key: string;
  /** A static busybox, for initrds. */
  busybox: string;
  clientKey: string;
  hostKey: string;
}

/**
 * The root file system of guests: the machine's own Debian or Ubuntu release by mmdebstrap with `packages` and what a guest
 * needs anyway, as an ext4 image. Made once per list of packages and kept in the cache (25 s and 160 MB).
 * Throws BootError KD_HOST_SETUP with the tool's own words.
 */
export async function makeRootfs(
  cacheDir: string,
  packages: string[],
  options: { signal?: AbortSignal; progress?: (what: string) => void } = {},
): Promise<Rootfs> {
  const list = [...new Set([...BASE_PACKAGES, ...packages])].sort();
  for (const name of list)
    if (!/^[a-z0-9][a-z0-9+.-]+$/.test(name))
      throw new BootError('KD_HOST_SETUP', 'infra', `${JSON.stringify(name)} is no name of a Debian package`);
  const sources = await aptSources();
  const inputs = createHash('sha256')
    .update([RECIPE, INIT, SSHD_CONFIG, sources.codename, ...list].join('\n'))
    .digest('hex')
    .slice(0, 16);
  const make = async (dir: string): Promise<void> => {
    options.progress?.(`making the guests' root file system (${list.length} packages)`);
    await mkdir(dir, { recursive: true });
    await buildImage(dir, list, sources, options.signal);
  };
  const { path } = await fetchEntry(cacheDir, 'rootfs', inputs, make, options.signal);
  return await readRootfs(path);
}

/** A root file system that was made before. */
export async function readRootfs(path: string): Promise<Rootfs> {
  return {
    dir: path,
    image: join(path, 'rootfs.ext4'),
    key: (await readFile(join(path, 'key'), 'utf8')).trim(),
    busybox: join(path, 'busybox'),
    clientKey: await readFile(join(path, 'client_key'), 'utf8'),
    hostKey: (await readFile(join(path, 'host_key.pub'), 'utf8')).trim(),
  };
}

async function buildImage(dir: string, packages: string[], sources: AptSources, signal?: AbortSignal): Promise<void> {
  const tar = join(dir, 'rootfs.tar');
  await runTool(
    'mmdebstrap',
    [
      '--quiet',
      '--variant=essential',
      `--include=${packages.join(',')}`,
      ...['doc', 'man', 'locale', 'info'].map((part) => `--dpkgopt=path-exclude=/usr/share/${part}/*`),
      sources.codename,
      tar,
      ...sources.files,
    ],
    { signal, timeoutMs: 900_000 },
  );

  const client = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'kdelta' });
  const host = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'kdelta guest' });
  await writeFile(join(dir, 'client_key'), client.private, { mode: 0o600 });
  await writeFile(join(dir, 'host_key.pub'), `${host.public}\n`);

  const files = join(dir, 'files');
  await mkdir(files);
  await writeFile(join(files, 'init'), INIT);
  await writeFile(join(files, 'sshd_config'), SSHD_CONFIG);
  await writeFile(join(files, 'kdelta_host_key'), host.private);
  await writeFile(join(files, 'authorized_keys'), `${client.public}\n`);
  await writeFile(join(dir, 'customise'), CUSTOMISE);

  // Under fakeroot where we aren't root, so that owners come out right.
  const isRoot = process.getuid?.() === 0;
  const command = ['sh', join(dir, 'customise'), dir];
  const [program, ...args] = isRoot ? command : ['fakeroot', '--', ...command];
  await runTool(program!, args, { signal, timeoutMs: 300_000 });
  await chmod(join(dir, 'busybox'), 0o755);

  const status = await readFile(join(dir, 'status'), 'utf8');
  const versions = status
    .split('\n\n')
    .map((entry) => [/^Package: (.*)$/m.exec(entry)?.[1], /^Version: (.*)$/m.exec(entry)?.[1]])
    .filter(([name, version]) => name && version)
    .map(([name, version]) => `${name}=${version}`)
    .sort();
  await writeFile(join(dir, 'packages'), `${versions.join('\n')}\n`);
  const key = createHash('sha256')
    .update([RECIPE, INIT, SSHD_CONFIG, ...versions].join('\n'))
    .digest('hex')
    .slice(0, 12);
  await writeFile(join(dir, 'key'), `${key}\n`);
}

/** Lazy initialisation of inode tables would write in the background of a measurement; a journal as well. */
const CUSTOMISE = `set -eu
cd "$1"
mkdir root
tar -C root -xf rootfs.tar
rm -rf root/var/lib/apt/lists/* root/var/cache/* root/dev/* root/etc/ssh/ssh_host_*
sed -i 's,^root:.*,root:*:0:0:root:/root:/bin/sh,' root/etc/passwd
mkdir -p root/root/.ssh root/lib/modules root/run root/tmp root/proc root/sys root/dev
cp files/authorized_keys root/root/.ssh/authorized_keys
cp files/sshd_config root/etc/ssh/sshd_config
cp files/kdelta_host_key root/etc/ssh/kdelta_host_key
rm -f root/sbin/init
cp files/init root/sbin/init
chown -R 0:0 root/root root/etc/ssh root/sbin/init
chmod 755 root/sbin/init
chmod 700 root/root root/root/.ssh
chmod 600 root/root/.ssh/authorized_keys root/etc/ssh/kdelta_host_key
cp root/bin/busybox busybox
cp root/var/lib/dpkg/status status
size=$(du -sm root | cut -f1)
truncate -s $((size + 1024))M rootfs.ext4
PATH=$PATH:/usr/sbin:/sbin mke2fs -q -F -t ext4 -N 65536 -m 0 -O ^has_journal -E lazy_itable_init=0 -d root rootfs.ext4
rm -rf root rootfs.tar files
`;

interface AptSources {
  codename: string;
  /** Files to hand to mmdebstrap. */
  files: string[];
}

/** The machine's own sources of its own release; third parties' (a Node repository) stay out. */
async function aptSources(): Promise<AptSources> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const codename = /^VERSION_CODENAME=(\w+)/m.exec(release)?.[1];
  if (!codename)
    throw new BootError(
      'KD_HOST_SETUP',
      'infra',
      'guests are made from Debian or Ubuntu packages; this machine names no release',
    );
  const suites = new Set(['', '-updates', '-security'].map((end) => codename + end));
  const candidates = ['/etc/apt/sources.list'];
  for (const name of await readdir('/etc/apt/sources.list.d').catch(() => [] as string[]))
    if (/\.(list|sources)$/.test(name)) candidates.push(`/etc/apt/sources.list.d/${name}`);
  const files: string[] = [];
  for (const file of candidates.sort()) {
    if (!existsSync(file)) continue;
    const named = suitesOf(await readFile(file, 'utf8'));
    if (named.length > 0 && named.every((suite) => suites.has(suite))) files.push(file);
  }
  if (files.length === 0)
    throw new BootError(
      'KD_HOST_SETUP',
      'infra',
      `no apt source of ${codename} in /etc/apt; add one (deb … ${codename} main)`,
    );
  return { codename, files };
}

/** The suites of a sources file, of either style. */
function suitesOf(text: string): string[] {
  const deb822 = [...text.matchAll(/^Suites:(.*)$/gm)].flatMap((m) => m[1]!.trim().split(/\s+/));
  const oneLine = [...text.matchAll(/^deb\s+(?:\[[^\]]*\]\s+)?\S+\s+(\S+)/gm)].map((m) => m[1]!);
  return [...deb822, ...oneLine];
}
