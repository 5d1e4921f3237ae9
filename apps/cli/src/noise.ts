import { openContext, rebuildNoise, type StepContext, UnknownName } from '@kdelta/steps';
import { findTestcases, listNoise, type NoiseRow } from '@kdelta/store';
import { Command } from 'commander';
import { openLog, outcome } from './outcome.ts';

interface Options {
  testcase?: string;
  all?: boolean;
  json?: boolean;
  config?: string;
}

/** `kdelta noise [rebuild]`: the noise model that judgements leave behind, and making it again from the boots. */
export function noiseCommand(): Command {
  const command = new Command('noise')
    .description('how far the boots of one kernel scatter, metric by metric: the noisiest first')
    .option('--testcase <name>', 'name or key of a testcase; default all')
    .option('--all', 'all metrics, not only KPIs')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"items": [...]}')
    .action((options: Options) => outcome((signal) => show(options, signal)));
  command
    .command('rebuild')
    .description('make the noise model again from the boots')
    .action((_: unknown, rebuild: Command) => outcome((signal) => makeAgain(rebuild.optsWithGlobals(), signal)));
  return command;
}

async function show(options: Options, signal: AbortSignal): Promise<0> {
  return inContext(options, signal, async (ctx, ids) => {
    const all = await Promise.all(
      (ids ?? [undefined]).map((testcaseId) =>
        listNoise(ctx.store.pool, { testcaseId, all: options.all, limit: 1_000_000 }),
      ),
    );
    const items = all.flat();
    process.stdout.write(options.json ? `${JSON.stringify({ items })}\n` : table(items));
  });
}

async function makeAgain(options: Options, signal: AbortSignal): Promise<0> {
  return inContext(options, signal, async (ctx, ids) => {
    const made = await rebuildNoise(ctx.store, ctx.metrics, ids);
    process.stdout.write(
      options.json ? `${JSON.stringify(made)}\n` : `${made.metrics} metrics of ${made.testcases} testcases\n`,
    );
  });
}

async function inContext(
  options: Options,
  signal: AbortSignal,
  work: (ctx: StepContext, testcaseIds: number[] | undefined) => Promise<void>,
): Promise<0> {
  const world = await openContext({ log: openLog('warn'), signal, configFile: options.config });
  try {
    const { testcase: name } = options;
    let ids: number[] | undefined;
    if (name !== undefined) {
      const named = (await findTestcases(world.ctx.store.pool)).filter((one) => one.name === name || one.key === name);
      if (named.length === 0)
        throw new UnknownName('KD_UNKNOWN_TESTCASE', `no boots of a testcase ${name}; \`kdelta noise\` lists them`);
      ids = named.map((one) => one.id);
    }
    await work(world.ctx, ids);
    return 0;
  } finally {
    await world.close();
  }
}

function table(items: NoiseRow[]): string {
  if (items.length === 0) return 'nothing has been judged yet\n';
  const lines = [
    `${'boot to boot'.padStart(12)} ${'kernels'.padStart(10)} ${'boots'.padStart(5)}  metric`,
    ...items.map((row) => {
      const pct = (value: number | null) => (value === null ? '–' : `${value.toPrecision(3)} %`);
      return `${pct(row.within_pct).padStart(12)} ${pct(row.between_pct).padStart(10)} ${String(row.boots).padStart(5)}  ${row.metric}  ${row.testcase} on ${row.tbox_group}`;
    }),
  ];
  return `${lines.join('\n')}\n`;
}
