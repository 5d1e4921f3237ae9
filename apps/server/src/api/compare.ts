import { isReported } from '@kdelta/stats';
import { z } from 'zod';
import { compareKernels } from '../compare.ts';
import type { App, ServerContext } from '../context.ts';
import { ApiDelta, toApiDelta, VERDICTS } from '../deltas.ts';
import { answers } from './answers.ts';
import { Id } from './schemas.ts';

export function compareRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/compare',
    {
      schema: {
        operationId: 'compareKernels',
        tags: ['pairs'],
        summary: 'Compare any two kernels at a testcase, from the boots that there are',
        description: 'Not kept, and not interleaved: boots may be days apart. A pair is the better witness.',
        querystring: z.object({
          base: Id.describe('Kernel'),
          head: Id.describe('Kernel'),
          testcase: Id,
          deltas: z.enum(['reported', 'all']).default('reported'),
        }),
        response: answers(
          z.object({
            verdict: z.enum(VERDICTS),
            line: z.string(),
            boots: z.object({ base: z.array(z.number()), head: z.array(z.number()) }),
            deltas: z.array(ApiDelta),
            deltas_total: z.number(),
          }),
        ),
      },
    },
    async (request) => {
      const { judgement, boots } = await compareKernels(ctx, request.query);
      const shown =
        request.query.deltas === 'all' ? judgement.deltas : judgement.deltas.filter((d) => d.kpi || isReported(d));
      return {
        verdict: judgement.verdict,
        line: judgement.line,
        boots,
        deltas: shown.map(toApiDelta),
        deltas_total: judgement.deltas.length,
      };
    },
  );
}
