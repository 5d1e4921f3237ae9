import { listBisects } from '@kdelta/store';
import type { Command } from 'commander';
import { type AskedOptions, askedCommand, bisectById, withBot } from './asked.ts';

/** `kdelta bisect status [ID]`: the bot's bisects, or how far one is. Exit status 1: it ended without a culprit. */
export function bisectStatusCommand(): Command {
  return askedCommand('status', "the bot's bisects and how far they are")
    .argument('[id]', 'one of them')
    .action((id: string | undefined, options: AskedOptions) =>
      withBot(options, async (world) => {
        if (id === undefined) {
          const rows = await listBisects(world.ctx.store.pool, { limit: 50 });
          const lines = rows.map(
            (b) =>
              `${String(b.id).padStart(5)}  ${b.state.padEnd(9)}  ${b.tree} ${b.metric} ${b.good_sha.slice(0, 10)}..${b.bad_sha.slice(0, 10)}` +
              `  ${b.culprit_sha ? `culprit ${b.culprit_sha.slice(0, 12)} ${b.culprit_subject ?? ''}` : ''}`,
          );
          process.stdout.write(options.json ? `${JSON.stringify(rows)}\n` : `${lines.join('\n') || 'no bisects'}\n`);
          return 0;
        }
        const b = await bisectById(world, id);
        const best = Object.entries(b.posterior ?? {})
          .sort((x, y) => y[1] - x[1])
          .slice(0, 5);
        const reason = (b.result as { reason?: string } | null)?.reason ?? b.failure?.message;
        const lines = [
          `bisect ${b.id}: ${b.state}${reason ? `, ${reason}` : ''}`,
          `  ${b.metric} at ${b.testcase} on ${b.tbox_group}, ${b.tree} ${b.good_sha.slice(0, 12)}..${b.bad_sha.slice(0, 12)}`,
          `  ${b.boots_done} boots done, ${b.boots_open} to come, budget ${b.budget}`,
          ...(b.culprit_sha ? [`  culprit ${b.culprit_sha} ${b.culprit_subject ?? ''}`] : []),
          ...best.map(([sha, p]) => `  ${(100 * p).toFixed(1).padStart(5)} %  ${sha.slice(0, 12)}`),
        ];
        process.stdout.write(options.json ? `${JSON.stringify(b)}\n` : `${lines.join('\n')}\n`);
        return ['done', 'failed', 'cancelled'].includes(b.state) && !b.culprit_sha ? 1 : 0;
      }),
    );
}
