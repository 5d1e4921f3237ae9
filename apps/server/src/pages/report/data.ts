import { listArtifacts, listEvents, loadReport } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';

/** One report with its mail, files and every change of state; throws 404 KD_NOT_FOUND. */
export async function reportPage(ctx: ServerContext, id: number) {
  const report = await loadReport(ctx.db, id);
  if (!report) throw notFound('report', id);
  const [files, events] = await Promise.all([
    listArtifacts(ctx.db, { reportId: id }),
    listEvents(ctx.db, { subject: `report:${id}`, limit: 100 }),
  ]);
  return { report, files, events };
}
export type ReportPage = Awaited<ReturnType<typeof reportPage>>;
