import { userInfo } from 'node:os';
import { approveReport, DecideError, type OpenContext, openContext, rejectReport } from '@kdelta/steps';
import { listReports, loadReport, type ReportState } from '@kdelta/store';
import { Command } from 'commander';
import { type ExitStatus, openLog, outcome } from './outcome.ts';

interface Options {
  config?: string;
  json?: boolean;
}

const states: ReportState[] = ['draft', 'approved', 'sending', 'sent', 'unknown', 'rejected'];

/** `kdelta report list|show|approve|reject`: what was found, and a person's yes or no to its mail. */
export function reportCommand(): Command {
  const group = new Command('report').description('reports: list, show, approve, reject');
  const sub = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .option('--config <file>', 'kdelta.yaml')
      .option('--json', 'print JSON');
  sub('list', 'reports, newest first')
    .option('--state <state>', `one of ${states.join(', ')}`)
    .option('--tree <tree>', 'of this tree')
    .action((options: Options & { state?: ReportState; tree?: string }) => withWorld(options, (w) => list(w, options)));
  sub('show', 'one report as it is mailed')
    .argument('<id>', 'number of the report')
    .action((id: string, options: Options) => withWorld(options, (w) => show(w, number(id), options)));
  sub('approve', 'send a draft')
    .argument('<id>', 'number of the report')
    .action((id: string, options: Options) =>
      withWorld(options, async ({ ctx }) => {
        await approveReport(ctx, number(id), userInfo().username);
        print(options, { id: number(id), state: 'approved' }, `report ${id} is approved; the worker sends it`);
        return 0;
      }),
    );
  sub('reject', 'never send a draft')
    .argument('<id>', 'number of the report')
    .option('--why <reason>', 'kept with the report', '')
    .action((id: string, options: Options & { why: string }) =>
      withWorld(options, async ({ ctx }) => {
        await rejectReport(ctx, number(id), userInfo().username, options.why);
        print(options, { id: number(id), state: 'rejected' }, `report ${id} is rejected`);
        return 0;
      }),
    );
  return group;
}

async function list(
  { ctx }: OpenContext,
  options: Options & { state?: ReportState; tree?: string },
): Promise<ExitStatus> {
  if (options.state && !states.includes(options.state)) {
    throw new DecideError('KD_REPORT_STATE', `no state ${options.state}; there are ${states.join(', ')}`);
  }
  const rows = await listReports(ctx.store.pool, { tree: options.tree, state: options.state, limit: 100 });
  const lines = rows.map(
    (r) =>
      `${String(r.id).padStart(5)}  ${r.state.padEnd(9)}  ${r.subject}${r.note ? `\n${' '.repeat(18)}${r.note}` : ''}`,
  );
  print(options, rows, lines.join('\n') || 'no reports');
  return 0;
}

async function show({ ctx }: OpenContext, id: number, options: Options): Promise<ExitStatus> {
  const row = await loadReport(ctx.store.pool, id);
  if (!row) throw new DecideError('KD_REPORT_UNKNOWN', `there is no report ${id}; \`kdelta report list\` shows them`);
  const head = [
    `State: ${row.state}${row.note ? ` (${row.note})` : ''}`,
    `To: ${row.to.join(', ') || '(nobody)'}`,
    ...(row.cc.length ? [`Cc: ${row.cc.join(', ')}`] : []),
    ...row.dropped.map((d) => `Dropped: ${d.address} (${d.why})`),
    `Subject: ${row.subject}`,
    `Message-ID: ${row.message_id}`,
  ];
  print(options, row, `${head.join('\n')}\n\n${row.body}`);
  return 0;
}

function print(options: Options, value: unknown, text: string): void {
  process.stdout.write(options.json ? `${JSON.stringify(value)}\n` : `${text.replace(/\n*$/, '')}\n`);
}

function number(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new DecideError('KD_REPORT_UNKNOWN', `${text} is no number of a report`);
  return Number(text);
}

async function withWorld(options: Options, work: (world: OpenContext) => Promise<ExitStatus>): Promise<void> {
  await outcome(async (signal) => {
    const world = await openContext({ log: openLog('warn'), signal, configFile: options.config });
    try {
      return await work(world);
    } finally {
      await world.close();
    }
  });
}
