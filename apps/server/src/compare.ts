import { type Judgement, judge } from '@kdelta/stats';
import { findKernels, findTestcaseBoots, type KernelRow, loadMatrix } from '@kdelta/store';
import type { ServerContext } from './context.ts';
import { notFound } from './problems.ts';

export interface Comparison {
  base: KernelRow;
  head: KernelRow;
  testcase: { id: number; name: string; tbox_group: string; deterministic: boolean };
  boots: { base: number[]; head: number[] };
  judgement: Judgement;
}

/**
 * Any two kernels at a testcase, judged on request from the boots that there are (not interleaved, perhaps days apart:
 * the pages say so). Throws 404 KD_NOT_FOUND when one of them has no boot there.
 */
export async function compareKernels(
  ctx: ServerContext,
  wanted: { base: number; head: number; testcase: number },
): Promise<Comparison> {
  const [[base], [head], found] = await Promise.all([
    findKernels(ctx.db, { id: wanted.base }),
    findKernels(ctx.db, { id: wanted.head }),
    findTestcaseBoots(ctx.db, wanted.testcase, [wanted.base, wanted.head]),
  ]);
  if (!base) throw notFound('kernel', wanted.base);
  if (!head) throw notFound('kernel', wanted.head);
  if (!found) throw notFound('testcase', wanted.testcase);
  const bootsOf = (kernel: KernelRow) =>
    found.boots
      .filter((boot) => boot.kernel_id === kernel.id || boot.kernel_id === kernel.same_as)
      .map((boot) => boot.id)
      .slice(-64);
  const boots = { base: bootsOf(base), head: bootsOf(head) };
  for (const side of ['base', 'head'] as const)
    if (!boots[side].length)
      throw notFound(
        'finished boot of kernel',
        wanted[side],
        `Nothing of it ran at ${found.name} on ${found.tbox_group}.`,
      );
  const [baseMatrix, headMatrix] = await Promise.all([
    loadMatrix(ctx.store.db, boots.base),
    loadMatrix(ctx.store.db, boots.head),
  ]);
  const judgement = judge({
    base: baseMatrix,
    head: headMatrix,
    registry: ctx.metrics,
    deterministic: found.deterministic,
    order: boots,
  });
  const { boots: _boots, ...testcase } = found;
  return { base, head, testcase, boots, judgement };
}
