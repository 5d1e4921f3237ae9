import { listReports } from '@kdelta/store';
import { z } from 'zod';
import { approve, reject, setRecipients } from '../actions/reports.ts';
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

  const Done = z.object({ id: z.number(), state: z.string() });
  const schema = { tags: ['reports'], security: [{ token: [] }], params: IdParams, response: answers(Done) };
  app.post(
    '/api/v1/reports/:id/approve',
    {
      schema: {
        ...schema,
        operationId: 'approveReport',
        summary: 'Approve a draft: it is sent to whom the rules allow',
      },
    },
    async (request) => {
      await approve(ctx, request, request.params.id);
      return { id: request.params.id, state: 'approved' };
    },
  );
  app.post(
    '/api/v1/reports/:id/reject',
    {
      schema: {
        ...schema,
        operationId: 'rejectReport',
        summary: 'Reject a draft, with the reason',
        body: z.object({ reason: z.string().min(1).max(500) }),
      },
    },
    async (request) => {
      await reject(ctx, request, request.params.id, request.body.reason);
      return { id: request.params.id, state: 'rejected' };
    },
  );
  const Addresses = z.array(z.string().max(300)).max(50);
  app.put(
    '/api/v1/reports/:id/recipients',
    {
      schema: {
        ...schema,
        operationId: 'setReportRecipients',
        summary: 'Replace the recipients of a draft',
        body: z.object({ to: Addresses, cc: Addresses }),
      },
    },
    async (request) => {
      await setRecipients(ctx, request, request.params.id, request.body.to, request.body.cc);
      return { id: request.params.id, state: 'draft' };
    },
  );
}
