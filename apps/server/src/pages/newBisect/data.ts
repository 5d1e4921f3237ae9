import { countQueue, findMetrics, findTestcases, listMarks, listRange, listTrees, loadPair } from '@kdelta/store';
import { z } from 'zod';
import type { ServerContext } from '../../context.ts';

export const NewBisectQuery = z.object({
  pair: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
  tree: z.string().max(200).optional(),
  good: z.string().max(100).optional(),
  bad: z.string().max(100).optional(),
  testcase: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
  metric: z.string().max(300).optional(),
  budget: z.coerce.number().int().min(2).max(1000).optional(),
  certainty: z.coerce.number().min(0.5).max(0.999).optional(),
});
export type NewBisectQuery = z.infer<typeof NewBisectQuery>;

/** What the form is filled with, and what is known about its range and cost. */
export async function newBisectPage(ctx: ServerContext, query: NewBisectQuery) {
  const pair = query.pair ? await loadPair(ctx.db, query.pair) : null;
  const wanted = {
    tree: query.tree ?? pair?.tree ?? undefined,
    good: query.good ?? pair?.base.sha ?? undefined,
    bad: query.bad ?? pair?.head.sha ?? undefined,
    testcase: query.testcase ?? pair?.testcase_id,
    metric: query.metric,
    budget: query.budget ?? 60,
    certainty: query.certainty ?? 0.95,
  };
  const full = /^[0-9a-f]{40}$/;
  const [trees, testcases, metrics, range, queue, marks] = await Promise.all([
    listTrees(ctx.db),
    findTestcases(ctx.db, {}),
    wanted.testcase ? findMetrics(ctx.db, { testcaseId: wanted.testcase, part: '', limit: 2000 }) : [],
    full.test(wanted.good ?? '') && full.test(wanted.bad ?? '')
      ? listRange(ctx.db, wanted.good!, wanted.bad!, 5000)
      : [],
    countQueue(ctx.db),
    wanted.testcase && wanted.metric ? listMarks(ctx.db, { testcaseId: wanted.testcase, metric: wanted.metric }) : [],
  ]);
  const steps = range.length > 1 ? Math.ceil(Math.log2(range.length)) : 0;
  return { wanted, pair, trees, testcases, metrics, range, queue, marks: marks.slice(-10), steps };
}
export type NewBisectPage = Awaited<ReturnType<typeof newBisectPage>>;
