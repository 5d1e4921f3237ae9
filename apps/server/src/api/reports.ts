import { listReports } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { reportPage } from '../pages/report/data.ts';
import { urls } from '../urls.ts';
import { answers } from './answers.ts';
import { Cursor, IdParams, Limit, listOf, Name, pageOf, Report, ReportDetail, ReportState, Sha } from './schemas.ts';

export function reportRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/reports',
    {
      schema: {
        operationId: 'listReports',
        tags: ['reports'],
        summary: 'Reports, newest first, without their bodies',
        querystring: z.object({
          tree: Name.optional(),
          state: ReportState.optional(),
          sha: Sha.optional(),
          before: Cursor,
          limit: Limit,
        }),
        response: answers(listOf(Report)),
      },
    },
    async (request) => pageOf(await listReports(ctx.db, request.query), request.query.limit),
  );

  app.get(
    '/api/v1/reports/:id',
    {
      schema: {
        operationId: 'getReport',
        tags: ['reports'],
        summary: 'A report: its mail, files and changes of state',
        params: IdParams,
        response: answers(ReportDetail),
      },
    },
    async (request) => {
      const { report, files, events } = await reportPage(ctx, request.params.id);
      return {
        ...report,
        files: files.map((file) => ({ ...file, url: urls.reportFile(report.id, file.name) })),
        events,
      };
    },
  );
}
