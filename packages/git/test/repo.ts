import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A real repository in a temporary folder, made with the machine's git. */
export interface Repo {
  dir: string;
  git(...args: string[]): string;
  /** Writes files, commits all, returns the sha. */
  commit(message: string, files: Record<string, string>, author?: string): Promise<string>;
  remove(): Promise<void>;
}

export async function makeRepo(): Promise<Repo> {
  const dir = await mkdtemp(join(tmpdir(), 'kdelta-git-test-'));
  const git = (...args: string[]) => {
    const identity = [
      '-c',
      'user.name=Committer',
      '-c',
      'user.email=committer@example.org',
      '-c',
      'commit.gpgsign=false',
    ];
    return execFileSync('git', [...identity, ...args], {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  };
  git('init', '--quiet', '--initial-branch=master', '.');
  return {
    dir,
    git,
    commit: async (message, files, author = 'Author <author@example.org>') => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(dir, name)), { recursive: true });
        await writeFile(join(dir, name), text);
      }
      git('add', '-A');
      git('commit', '--quiet', '--allow-empty', `--author=${author}`, '-m', message);
      return git('rev-parse', 'HEAD');
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
