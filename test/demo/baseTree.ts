import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '@kdelta/git';
import { fetchEntry, holdEntry, type Lock } from '@kdelta/kernels';
import { run } from './run.ts';

/** Changes when what the base commit holds does. */
const FORMAT = 1;

/**
 * What an x86 guest never builds, and what makes two thirds of the archive: other architectures, documentation, self-tests
 * and the sources (not the Kconfig files and Makefiles) of families of drivers for real hardware.
 */
const LEFT_OUT = [
  'Documentation/*/*',
  // Their Kconfig files stay: crypto/Kconfig reads them.
  ...['*.c', '*.h', '*.S', '*.dts', '*.dtsi', '*.dtso', '*.its', 'configs/*'].map((name) => `arch/[!x]*/${name}`),
  'tools/testing/*',
  'tools/perf/*',
  ...[
    'drivers/accel/*',
    'drivers/clk/*',
    'drivers/gpu/drm/*',
    'drivers/infiniband/hw',
    'drivers/media/*',
    'drivers/net/ethernet',
    'drivers/net/wireless',
    'drivers/pinctrl/*',
    'drivers/scsi/*',
    'drivers/staging',
    'drivers/usb/*',
    'sound/*',
  ].flatMap((folder) => [`${folder}/*.c`, `${folder}/*.h`]),
];

export interface BaseTree {
  /** A bare repository in the cache: `reference` for mirrors, alternate for clones. Never written to. */
  dir: string;
  /** The only commit. */
  sha: string;
  /** `v6.12`, on that commit. */
  tag: string;
  /** Debian's package and version. */
  source: string;
  /** Keeps the cache entry from being pruned while it is borrowed from. */
  hold: Lock;
}

export interface TreeContext {
  cacheDir: string;
  /** Where linux-source-* lies; default /usr/src. */
  sourceDir?: string;
  progress?: (message: string) => void;
  signal?: AbortSignal;
}

/**
 * One commit with the newest kernel source that Debian's linux-source-* installed here, made once per package version. The
 * same package gives the same sha everywhere. Throws when no source archive is there.
 */
export async function makeBaseTree(ctx: TreeContext): Promise<BaseTree> {
  const archive = await newestArchive(ctx.sourceDir ?? '/usr/src');
  const packageName = `linux-source-${archive.version}`;
  const version = (await run('dpkg-query', ['-W', '-f', '\u0024{Version}', packageName], {})).trim();
  const key = `${packageName}_${version}_${FORMAT}.git`.replaceAll(':', '~');
  const tag = `v${archive.version}`;
  const { path } = await fetchEntry(
    ctx.cacheDir,
    'trees',
    key,
    async (dir) => await importArchive(dir, archive.path, tag, `${packageName} ${version}`, ctx),
    ctx.signal,
  );
  const sha = (await runGit(['rev-parse', `${tag}^{commit}`], { gitDir: path })).trim();
  return {
    dir: path,
    sha,
    tag,
    source: `${packageName} ${version}`,
    hold: await holdEntry(ctx.cacheDir, 'trees', key),
  };
}

/** A bare repository at `dir` whose master is at the base commit; it borrows the base's objects, so it is made at once. */
export async function cloneBase(base: BaseTree, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  await runGit(['init', '--quiet', '--bare', '--template=', '--initial-branch=master', '--', dir]);
  await mkdir(join(dir, 'objects/info'), { recursive: true });
  await writeFile(join(dir, 'objects/info/alternates'), `${join(base.dir, 'objects')}\n`);
  await runGit(['update-ref', 'refs/heads/master', base.sha], { gitDir: dir });
  await runGit(['update-ref', `refs/tags/${base.tag}`, base.sha], { gitDir: dir });
}

async function newestArchive(dir: string): Promise<{ path: string; version: string }> {
  const names = await readdir(dir).catch(() => [] as string[]);
  const found = names
    .map((name) => /^linux-source-(\d+)\.(\d+)(\.\d+)?\.tar\.(xz|bz2|zst)$/.exec(name))
    .filter((match) => match !== null)
    .sort((a, b) => Number(b[1]) - Number(a[1]) || Number(b[2]) - Number(a[2]))[0];
  if (!found) throw new Error(`no linux-source-*.tar.xz in ${dir}: install the package linux-source-6.12`);
  return { path: join(dir, found[0]), version: `${found[1]}.${found[2]}${found[3] ?? ''}` };
}

async function importArchive(
  dir: string,
  archive: string,
  tag: string,
  source: string,
  ctx: TreeContext,
): Promise<void> {
  const files = `${dir}.files`;
  try {
    await mkdir(files, { recursive: true });
    ctx.progress?.(`unpacking ${source}`);
    const unpack = archive.endsWith('.xz') ? ['-I', 'xz -T0'] : ['-a'];
    const excludes = LEFT_OUT.map((pattern) => `--exclude=*/${pattern}`);
    await run(
      'tar',
      ['-x', ...unpack, '-f', archive, '-C', files, '--strip-components=1', '--anchored', ...excludes],
      ctx,
    );
    ctx.progress?.(`storing ${source} as a git tree`);
    const repo = `${dir}.repo`;
    await runGit(['init', '--quiet', '--bare', '--template=', '--initial-branch=master', '--', repo]);
    const options = { gitDir: repo, env: { GIT_WORK_TREE: files, ...RELEASE }, cwd: files, signal: ctx.signal };
    // "Big" files are streamed into one pack, uncompressed: a fifth of the time that loose objects take.
    const fast = ['core.bigFileThreshold=1', 'core.compression=0', 'core.fsync=none', 'core.autocrlf=false'];
    await runGit([...fast.flatMap((entry) => ['-c', entry]), 'add', '--force', '--all', '.'], options);
    const tree = (await runGit(['write-tree'], options)).trim();
    const message = `Linux ${tag.slice(1)}\n\n${source}, without what an x86 guest never builds: other architectures,\ndocumentation, self-tests and many drivers for real hardware.\n`;
    const sha = (await runGit(['commit-tree', tree, '-F', '-'], { ...options, input: message })).trim();
    await runGit(['update-ref', 'refs/heads/master', sha], options);
    await runGit(['update-ref', `refs/tags/${tag}`, sha], options);
    await rm(join(repo, 'index'), { force: true });
    await rename(repo, dir);
  } finally {
    await rm(files, { recursive: true, force: true });
    await rm(`${dir}.repo`, { recursive: true, force: true });
  }
}

/** Linux 6.12 was released on this day. */
const RELEASE = {
  GIT_AUTHOR_NAME: 'Release Manager',
  GIT_AUTHOR_EMAIL: 'release.manager@example.org',
  GIT_AUTHOR_DATE: '1731882498 +0000',
  GIT_COMMITTER_NAME: 'Release Manager',
  GIT_COMMITTER_EMAIL: 'release.manager@example.org',
  GIT_COMMITTER_DATE: '1731882498 +0000',
};
