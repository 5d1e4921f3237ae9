import { GitError } from './errors.ts';
import { runGit, tryGit } from './git.ts';

/** A person as the commit names them: hostile text, not yet checked or encoded for anything. */
export interface Person {
  name: string;
  email: string;
  /** When, with the person's own offset from UTC in minutes. */
  date: Date;
  offsetMinutes: number;
}

export interface CommitFacts {
  sha: string;
  tree: string;
  parents: string[];
  author: Person;
  committer: Person;
  subject: string;
  /** Everything after the subject, trailers included. */
  body: string;
  /** `Fixes: …`, `Signed-off-by: …`: the last paragraph's, in order. */
  trailers: { key: string; value: string }[];
}

/** Reads a commit object. Throws KD_GIT_REF and KD_GIT_UNKNOWN. */
export async function readCommit(gitDir: string, sha: string): Promise<CommitFacts> {
  checkRev(sha);
  const result = await tryGit(['cat-file', 'commit', sha], { gitDir });
  if (result.code !== 0) throw new GitError('KD_GIT_UNKNOWN', `no commit ${sha} in ${gitDir}`);
  return parseCommit(sha, result.stdout);
}

/**
 * Takes a raw commit object apart. Text is UTF-8; where it isn't, the commit's `encoding` header is obeyed, else
 * it is read as Latin-1, so that no byte is lost.
 */
export function parseCommit(sha: string, raw: Buffer): CommitFacts {
  const split = raw.indexOf('\n\n');
  const headerEnd = split < 0 ? raw.length : split;
  const header = raw.subarray(0, headerEnd);
  const encoding = /^encoding (.+)$/m.exec(header.toString('latin1'))?.[1];
  const lines = decode(header, encoding).split('\n');
  const field = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1) ?? '';
  const message = decode(raw.subarray(split < 0 ? raw.length : split + 2), encoding);
  const { subject, body } = splitMessage(message);
  return {
    sha,
    tree: field('tree'),
    parents: lines.filter((line) => line.startsWith('parent ')).map((line) => line.slice(7)),
    author: parsePerson(field('author')),
    committer: parsePerson(field('committer')),
    subject,
    body,
    trailers: parseTrailers(body),
  };
}

/** git's `Name <email> seconds +hhmm`. */
export function parsePerson(text: string): Person {
  const match = /^(.*?)\s*<(.*)>\s*(-?\d+)?\s*([+-]\d{4})?/.exec(text);
  const zone = match?.[4] ?? '+0000';
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3));
  return {
    name: match?.[1] ?? text,
    email: match?.[2] ?? '',
    date: new Date(Number(match?.[3] ?? 0) * 1000),
    offsetMinutes: zone.startsWith('-') ? -minutes : minutes,
  };
}

/** The trailers at the end of a message: a last paragraph whose lines are `Key: value` (continued by indented lines). */
export function parseTrailers(body: string): { key: string; value: string }[] {
  const paragraphs = body.trimEnd().split(/\n[ \t]*\n/);
  const last = (paragraphs[paragraphs.length - 1] ?? '').split('\n');
  const trailers: { key: string; value: string }[] = [];
  for (const line of last) {
    const match = /^([A-Za-z0-9][A-Za-z0-9-]*):\s+(.*)$/.exec(line);
    const previous = trailers[trailers.length - 1];
    if (match) trailers.push({ key: match[1]!, value: match[2]!.trim() });
    else if (/^\s+\S/.test(line) && previous) previous.value += ` ${line.trim()}`;
    // `[name: what was changed]` and `(cherry picked from …)` stand between trailers.
    else if (!/^[[(].*[\])]$/.test(line.trim())) return [];
  }
  return trailers;
}

/** The full sha that a branch, tag or (abbreviated) sha names. Throws KD_GIT_REF and KD_GIT_UNKNOWN, with near matches. */
export async function findCommit(gitDir: string, rev: string): Promise<string> {
  checkRev(rev);
  for (const candidate of /^[0-9a-f]{4,40}$/.test(rev) ? [rev] : [`refs/heads/${rev}`, `refs/tags/${rev}`, rev]) {
    const result = await tryGit(['rev-parse', '--verify', '--quiet', '--end-of-options', `${candidate}^{commit}`], {
      gitDir,
    });
    if (result.code === 0) return result.stdout.toString('latin1').trim();
  }
  const refs = (
    await runGit(['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads', 'refs/tags'], { gitDir })
  ).split('\n');
  const near = refs.filter((ref) => ref !== '' && (ref.includes(rev) || rev.includes(ref))).slice(0, 5);
  throw new GitError(
    'KD_GIT_UNKNOWN',
    `no commit, branch or tag ${rev}${near.length > 0 ? `; near: ${near.join(', ')}` : ''}`,
  );
}

/** Files that a commit changes, against its first parent; `status` is git's letter (A, M, D, T). */
export async function changedFiles(gitDir: string, sha: string): Promise<{ path: string; status: string }[]> {
  const parent = (await readCommit(gitDir, sha)).parents[0];
  const from = parent ?? (await runGit(['hash-object', '-t', 'tree', '/dev/null'], { gitDir })).trim();
  const text = await runGit(['diff-tree', '-r', '-z', '--no-renames', '--name-status', '--end-of-options', from, sha], {
    gitDir,
  });
  const parts = text.split('\0').filter((part) => part !== '');
  return Array.from({ length: parts.length / 2 }, (_, i) => ({ status: parts[2 * i]!, path: parts[2 * i + 1]! }));
}

/** `git diff --stat` of a commit, or between two, as printed, without colour. */
export async function diffstat(gitDir: string, from: string, to?: string): Promise<string> {
  const range = to === undefined ? [`${checkRev(from)}^`, from] : [checkRev(from), checkRev(to)];
  return await runGit(['diff-tree', '-r', '-M', '--stat=72', '--no-color', '--end-of-options', ...range], { gitDir });
}

/** Refuses what git could take for an option or that no ref can contain. Returns `rev`. Throws KD_GIT_REF. */
export function checkRev(rev: string): string {
  if (
    rev === '' ||
    rev.length > 250 ||
    rev.startsWith('-') ||
    /[\x00-\x20\x7f:?*[\\^]|\.\.|@\{|\.lock$|\/$/.test(rev)
  ) {
    throw new GitError('KD_GIT_REF', `${JSON.stringify(rev.slice(0, 80))} can't be a commit, branch or tag`);
  }
  return rev;
}

function splitMessage(message: string): { subject: string; body: string } {
  const text = message.replace(/^\n+/, '');
  const end = /\n[ \t]*\n/.exec(text);
  const subject = (end ? text.slice(0, end.index) : text).split('\n').join(' ').trim();
  return { subject, body: end ? text.slice(end.index + end[0].length).trimEnd() : '' };
}

function decode(bytes: Buffer, encoding: string | undefined): string {
  for (const label of [encoding, 'utf-8']) {
    if (label === undefined) continue;
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      // Not that encoding, or one that nobody knows.
    }
  }
  return bytes.toString('latin1');
}
