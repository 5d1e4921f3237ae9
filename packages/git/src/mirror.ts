import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve as resolvePath } from 'node:path';
import { GitError } from './errors.ts';
import { lastLine, runGit, tryGit } from './git.ts';

export interface MirrorSpec {
  /** Where the bare mirror lies; made if need be. */
  dir: string;
  /** https, ssh, git, or a local path or file: URL. */
  url: string;
  /** A local repository whose objects are borrowed (git's alternates), so that little has to be fetched. */
  reference?: string;
}

/** What a fetch moved: branch → its tip, before (null: new) and after (null: gone). */
export interface HeadMove {
  branch: string;
  before: string | null;
  after: string | null;
}

/**
 * Makes the mirror if it isn't there, and fetches all branches and tags. Returns the branches that moved.
 * Throws KD_GIT_URL, KD_GIT_REFERENCE, and KD_GIT_FETCH when the remote can't be had.
 */
export async function fetchMirror(spec: MirrorSpec, signal?: AbortSignal): Promise<HeadMove[]> {
  const allowFile = checkUrl(spec.url);
  await openMirror(spec);
  const before = await listHeads(spec.dir);
  const refspecs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
  const fetched = await tryGit(
    [
      'fetch',
      '--prune',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--quiet',
      '--',
      spec.url,
      ...refspecs,
    ],
    { gitDir: spec.dir, signal, allowFile, timeoutMs: 3 * 3_600_000 },
  );
  if (fetched.code !== 0) throw new GitError('KD_GIT_FETCH', `can't fetch ${spec.url}: ${lastLine(fetched.stderr)}`);
  const after = await listHeads(spec.dir);
  const branches = [...new Set([...before.keys(), ...after.keys()])].sort();
  return branches
    .map((branch) => ({ branch, before: before.get(branch) ?? null, after: after.get(branch) ?? null }))
    .filter((move) => move.before !== move.after);
}

/** Makes the bare repository and its alternates without fetching. Throws KD_GIT_URL and KD_GIT_REFERENCE. */
export async function openMirror(spec: MirrorSpec): Promise<void> {
  checkUrl(spec.url);
  const there = await access(join(spec.dir, 'HEAD')).then(
    () => true,
    () => false,
  );
  if (!there) {
    const temporary = `${spec.dir}.new-${process.pid}`;
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true });
    await runGit(['init', '--quiet', '--bare', '--template=', '--', temporary]);
    await rename(temporary, spec.dir).catch(async (error: NodeJS.ErrnoException) => {
      await rm(temporary, { recursive: true, force: true });
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  }
  if (spec.reference !== undefined) await borrowObjects(spec.dir, spec.reference);
}

/** Branch → commit at its tip. */
export async function listHeads(gitDir: string): Promise<Map<string, string>> {
  const text = await runGit(['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads'], { gitDir });
  return new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line): [string, string] => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]),
  );
}

/**
 * Whether a URL may be fetched: true when it is local (git then needs `file`), false when it is https, ssh or git. Throws
 * KD_GIT_URL for everything else: `ext::`, http, options in disguise, control characters.
 */
export function checkUrl(url: string): boolean {
  const refuse = (why: string) => new GitError('KD_GIT_URL', `tree URL ${JSON.stringify(url)}: ${why}`);
  if (url === '' || url.startsWith('-')) throw refuse('is not a URL');
  if (/[\x00-\x20\x7f]/.test(url)) throw refuse('has spaces or control characters');
  if (/^[A-Za-z0-9+.-]*::/.test(url)) throw refuse('names a transport helper; use https, ssh, git or a path');
  if (isAbsolute(url) || url.startsWith('./') || url.startsWith('../') || url.startsWith('file:///')) return true;
  if (/^(https|git):\/\/[^-/]/.test(url)) return false;
  if (/^ssh:\/\/[^-/]/.test(url) && !/^ssh:\/\/[^/]*@-/.test(url)) return false;
  if (/^([A-Za-z0-9._]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:]/.test(url) && !url.includes('://')) return false;
  throw refuse('use https, ssh, git or a local path');
}

async function borrowObjects(dir: string, reference: string): Promise<void> {
  const place = resolvePath(reference);
  const objects = await runGit(['rev-parse', '--git-path', 'objects'], { cwd: place }).catch(() => null);
  if (objects === null) throw new GitError('KD_GIT_REFERENCE', `reference ${reference} is not a git repository`);
  const path = resolvePath(place, objects.trim());
  const file = join(dir, 'objects/info/alternates');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  if (lines.includes(path)) return;
  await mkdir(join(dir, 'objects/info'), { recursive: true });
  await writeFile(`${file}.new`, `${[...lines, path].join('\n')}\n`);
  await rename(`${file}.new`, file);
}
