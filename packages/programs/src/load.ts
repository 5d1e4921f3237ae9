import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import type { ProgramMeta } from '@kdelta/jobs';
import { ProgramError } from './errors.ts';
import { readMeta } from './meta.ts';

/** Programs by name. */
export type Programs = Map<string, ProgramMeta>;

/**
 * Every program of `roots` (folders of program folders); where two have a name, the first root's counts.
 * Throws KD_PROGRAM_META for a meta.yaml that is wrong, KD_PROGRAM_UNKNOWN for a root that doesn't exist.
 */
export async function loadPrograms(roots: string[]): Promise<Programs> {
  const programs: Programs = new Map();
  for (const root of roots) {
    const entries = await readdir(root, { withFileTypes: true }).catch(() => {
      throw new ProgramError(
        'KD_PROGRAM_UNKNOWN',
        `${root}: no such folder (KDELTA_PROGRAMS lists folders of programs)`,
      );
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (programs.has(entry.name) || !(entry.isDirectory() || entry.isSymbolicLink())) continue;
      const meta = await readMeta(join(root, entry.name));
      if (meta) programs.set(entry.name, meta);
    }
  }
  return programs;
}

/** The folders to search: KDELTA_PROGRAMS' first, the repository's `programs/` last. */
export function programRoots(env: Record<string, string | undefined>): string[] {
  const own = (env.KDELTA_PROGRAMS ?? '').split(':').filter((dir) => dir !== '');
  return [...own, join(homeDir(), 'programs')];
}

/** One program. Throws KD_PROGRAM_UNKNOWN, naming the near matches. */
export function findProgram(programs: Programs, name: string): ProgramMeta {
  const found = programs.get(name);
  if (found) return found;
  const near = [...programs.keys()].filter((other) => isNear(other, name));
  const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : `there are ${[...programs.keys()].join(', ')}`;
  throw new ProgramError('KD_PROGRAM_UNKNOWN', `no program ${JSON.stringify(name)}: ${hint}`);
}

function isNear(a: string, b: string): boolean {
  return a.includes(b) || b.includes(a) || distance(a, b) <= 2;
}

/** Edits from one word to the other (Levenshtein 1966). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}
