import { existsSync } from 'node:fs';
import { findCommit, GitError } from '@kdelta/git';
import { suggestion } from '@kdelta/jobs';
import type { Matrix } from '@kdelta/matrix';
import { mirrorDir, openContext, type StepContext } from '@kdelta/steps';
import {
  findMatrixBoots,
  findSavedBoots,
  listHistoryBoots,
  listSavedNames,
  loadMatrix,
  loadMatrixOfEach,
  testcase,
} from '@kdelta/store';
import { eq } from 'drizzle-orm';
import { openLog } from './outcome.ts';

/** Boots in the database under the name that a person typed. */
export interface StoredMatrix {
  matrix: Matrix;
  testcase: { id: number; key: string; name: string };
  /** The host counts instructions. */
  deterministic: boolean;
  kernelIds: number[];
  bootIds: number[];
}

/** No boots under that name; one line, exit status 2. */
export class UnknownBoots extends Error {
  readonly exitStatus = 2;
}

/**
 * Saved names (`kdelta run --save`) and `tree:commit` as matrices, and earlier boots of other kernels at the same testcase
 * for the noise. Throws UnknownBoots with the near names, or when the boots are of different testcases.
 */
export async function loadStored(
  names: string[],
  testcaseName?: string,
): Promise<{ found: StoredMatrix[]; history: Matrix[] }> {
  const world = await openContext({ log: openLog('warn'), signal: new AbortController().signal });
  try {
    const found: StoredMatrix[] = [];
    for (const name of names) found.push(await loadOne(world.ctx, name, testcaseName));
    const [first] = found;
    const other = found.find((one) => one.testcase.key !== first?.testcase.key);
    if (first && other)
      throw new UnknownBoots(
        `the boots are of different testcases (${first.testcase.name} ${first.testcase.key}, ${other.testcase.name} ${other.testcase.key}): job, host group, programs and root file system must be the same`,
      );
    let history: Matrix[] = [];
    if (first && found.every((one) => one.bootIds.length > 0)) {
      const own = [...new Set(found.flatMap((one) => one.kernelIds))];
      const cutoff = Math.min(...found.flatMap((one) => one.bootIds));
      const { db } = world.ctx;
      history = await loadMatrixOfEach(db, await listHistoryBoots(db, first.testcase.id, own, cutoff));
    }
    return { found, history };
  } finally {
    await world.close();
  }
}

async function loadOne(ctx: StepContext, name: string, testcaseName?: string): Promise<StoredMatrix> {
  const { pool } = ctx.store;
  const saved = await findSavedBoots(pool, name);
  if (saved.length > 0) return pick(ctx, name, saved, testcaseName);
  const [place, rev] = name.split(':');
  const trees = ctx.config.trees.map((one) => one.name);
  if (place && rev && trees.includes(place)) {
    if (testcaseName === undefined) throw new UnknownBoots(`${name}: name the testcase with --testcase`);
    const sha = await commitOf(ctx, place, rev);
    const boots = await findMatrixBoots(pool, { tree: place, sha, testcase: testcaseName });
    if (boots.length === 0) throw new UnknownBoots(`${name} has no finished boots of ${testcaseName}`);
    return pick(ctx, name, boots.slice(0, 1), undefined);
  }
  const known = [...(await listSavedNames(pool)), ...trees.map((tree) => `${tree}:COMMIT`)];
  throw new UnknownBoots(`${name}: no such file, and no boots are saved under that name${suggestion(name, known)}`);
}

async function pick(
  ctx: StepContext,
  name: string,
  rows: { testcase_id: number; key: string; name: string; kernel_id: number; boot_ids: number[] }[],
  testcaseName?: string,
): Promise<StoredMatrix> {
  const fitting = rows.filter((row) => testcaseName === undefined || [row.key, row.name].includes(testcaseName));
  const keys = new Map(fitting.map((row) => [row.key, row.name]));
  if (keys.size !== 1) {
    const which = [...new Set(rows.map((row) => row.name))].join(', ');
    throw new UnknownBoots(`${name} holds boots of ${which}: choose one with --testcase`);
  }
  const [first] = fitting;
  const bootIds = fitting.flatMap((row) => row.boot_ids);
  const [row] = await ctx.db.select().from(testcase).where(eq(testcase.id, first!.testcase_id));
  return {
    matrix: await loadMatrix(ctx.db, bootIds),
    testcase: { id: row!.id, key: row!.key, name: row!.name },
    deterministic: row!.deterministic,
    kernelIds: fitting.map((one) => one.kernel_id),
    bootIds,
  };
}

async function commitOf(ctx: StepContext, tree: string, rev: string): Promise<string> {
  const mirror = mirrorDir(ctx, tree);
  if (!existsSync(mirror)) throw new UnknownBoots(`tree ${tree} was never fetched: run \`kdelta watch\` first`);
  return findCommit(mirror, rev).catch((error: Error) => {
    throw error instanceof GitError ? new UnknownBoots(`${tree}:${rev}: ${error.message}`) : error;
  });
}
