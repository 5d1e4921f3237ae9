import {
  findMetrics,
  findTestcases,
  type History,
  listMarks,
  loadHistory,
  type Mark,
  type TestcaseRow,
} from '@kdelta/store';
import { z } from 'zod';
import type { ServerContext } from '../../context.ts';

const many = (part: string) =>
  z
    .string()
    .max(2000)
    .regex(new RegExp(`^${part}(,${part}){0,11}$`));

/** One or several testcases times one or several metrics; all of it in the address. */
export const HistoryQuery = z.object({
  testcase: many('\\d{1,9}').optional().describe('Testcase ids, separated by commas'),
  metric: z.string().max(2000).optional().describe('Metric names, separated by commas'),
  tree: z.string().max(200).optional(),
  branch: z.string().max(400).optional().describe('Branches, separated by commas: each has its own series'),
  limit: z.coerce.number().int().min(10).max(20_000).default(10_000).describe('Newest boots per series'),
});
export type HistoryQuery = z.infer<typeof HistoryQuery>;

export interface Series extends History {
  testcase_id: number;
  testcase: string;
  tbox_group: string;
  metric: string;
  /** Only boots of this branch's kernels. */
  branch?: string;
  marks: Mark[];
}

const MOST_SERIES = 8;

/** The series alone, without the lists that the page offers to choose from. */
export async function historySeries(ctx: ServerContext, query: HistoryQuery): Promise<Series[]> {
  if (!query.testcase || !query.metric) return (await historyPage(ctx, query)).series;
  const testcases = await findTestcases(ctx.db, { ids: wantedIds(query) });
  return seriesOf(ctx, query, testcases, wantedNames(query.metric));
}

export async function historyPage(ctx: ServerContext, query: HistoryQuery) {
  const testcases = await findTestcases(ctx.db, {});
  const wanted = wantedIds(query);
  const chosen = wanted.length ? testcases.filter((one) => wanted.includes(one.id)) : testcases.slice(0, 1);
  const metrics = chosen[0] ? await findMetrics(ctx.db, { testcaseId: chosen[0].id, part: '', limit: 2000 }) : [];
  const names = query.metric ? wantedNames(query.metric) : metrics.slice(0, 1).map((metric) => metric.name);
  return { testcases, metrics, chosen, names, series: await seriesOf(ctx, query, chosen, names) };
}
export type HistoryPage = Awaited<ReturnType<typeof historyPage>>;

const wantedIds = (query: HistoryQuery) => (query.testcase ?? '').split(',').filter(Boolean).map(Number);
const wantedNames = (names: string) =>
  names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

async function seriesOf(
  ctx: ServerContext,
  query: HistoryQuery,
  testcases: TestcaseRow[],
  names: string[],
): Promise<Series[]> {
  const branches = query.branch ? wantedNames(query.branch) : [undefined];
  const wanted = testcases
    .flatMap((testcase) => names.flatMap((metric) => branches.map((branch) => ({ testcase, metric, branch }))))
    .slice(0, MOST_SERIES);
  return Promise.all(
    wanted.map(async ({ testcase, metric, branch }): Promise<Series> => {
      const [history, marks] = await Promise.all([
        loadHistory(ctx.db, { testcaseId: testcase.id, metric, tree: query.tree, branch, limit: query.limit }),
        listMarks(ctx.db, { testcaseId: testcase.id, metric }),
      ]);
      return {
        testcase_id: testcase.id,
        testcase: testcase.name,
        tbox_group: testcase.tbox_group,
        metric,
        ...(branch !== undefined && { branch }),
        marks,
        ...history,
      };
    }),
  );
}
