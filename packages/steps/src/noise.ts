import type { Registry } from '@kdelta/matrix';
import { JUDGE_VERSION, noiseModel } from '@kdelta/stats';
import { boot, type Db, listHistoryBoots, loadMatrixOfEach, lockNoise, type Store, saveNoise } from '@kdelta/store';
import { eq } from 'drizzle-orm';

/**
 * Makes the noise model of a testcase anew from its newest 128 boots (as many as a judgement looks back), in the
 * transaction that stores a judgement. All of it, not by adding to sums: which boots there are is the only truth, so the
 * model can't drift away from what a rebuild gives. Returns how many metrics it has.
 */
export async function refreshNoise(tx: Db, registry: Registry, testcaseId: number): Promise<number> {
  await lockNoise(tx, testcaseId);
  const kernels = await listHistoryBoots(tx, testcaseId, [], null);
  const model = noiseModel(await loadMatrixOfEach(tx, kernels), registry);
  const upToBoot = kernels.flat().reduce((most, id) => Math.max(most, id), 0);
  await saveNoise(tx, testcaseId, model, { upToBoot, judgeVersion: JUDGE_VERSION });
  return model.length;
}

/** Makes the noise models of these testcases, or of all that have boots, one transaction each. */
export async function rebuildNoise(
  store: Store,
  registry: Registry,
  testcaseIds?: readonly number[],
): Promise<{ testcases: number; metrics: number }> {
  const all =
    testcaseIds ??
    (
      await store.db
        .selectDistinct({ id: boot.testcaseId })
        .from(boot)
        .where(eq(boot.state, 'done'))
        .orderBy(boot.testcaseId)
    ).map((row) => row.id);
  let metrics = 0;
  for (const id of all) metrics += await store.transact((tx) => refreshNoise(tx, registry, id));
  return { testcases: all.length, metrics };
}
