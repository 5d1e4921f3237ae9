import { openContext } from '@kdelta/steps';
import { countQueue, listHosts, listPairs, listRunning, listTrees } from '@kdelta/store';
import { Command } from 'commander';
import { openLog, outcome } from './outcome.ts';

/** `kdelta status`: what is watched, what runs where and how far, what waits. */
export function statusCommand(): Command {
  return new Command('status')
    .description('trees, hosts, running boots and pairs')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"trees", "hosts", "running", "queue", "pairs"}')
    .action((options: { config?: string; json?: boolean }) =>
      outcome(async (signal) => {
        const world = await openContext({ log: openLog('warn'), signal, configFile: options.config });
        const { pool } = world.ctx.store;
        try {
          const [trees, hosts, running, queue, pairs] = await Promise.all([
            listTrees(pool),
            listHosts(pool),
            listRunning(pool),
            countQueue(pool),
            listPairs(pool, { limit: 10 }),
          ]);
          const all = { trees, hosts, running, queue, pairs };
          process.stdout.write(options.json ? `${JSON.stringify(all)}\n` : statusText(all));
          return 0;
        } finally {
          await world.close();
        }
      }),
    );
}

type All = {
  trees: Awaited<ReturnType<typeof listTrees>>;
  hosts: Awaited<ReturnType<typeof listHosts>>;
  running: Awaited<ReturnType<typeof listRunning>>;
  queue: Awaited<ReturnType<typeof countQueue>>;
  pairs: Awaited<ReturnType<typeof listPairs>>;
};

function statusText({ trees, hosts, running, queue, pairs }: All): string {
  const section = (title: string, lines: string[]) => [
    title,
    ...(lines.length > 0 ? lines : ['none']).map((l) => `  ${l}`),
  ];
  return `${[
    ...section(
      'trees',
      trees.map((t) => `${t.name} ${t.fetch_error ?? `fetched ${t.fetched_at?.toISOString() ?? 'never'}`}`),
    ),
    ...section(
      'hosts',
      hosts.map((h) => `${h.name} ${h.state}`),
    ),
    ...section(
      'running',
      running.map((r) => {
        const of = r.sha?.slice(0, 12) ?? r.package ?? '';
        const how = r.progress ? `${r.progress.phase} ${r.progress.note ?? ''}` : r.state;
        return `${r.what} ${r.id} ${of} ${r.testcase ?? ''} ${r.host ? `on ${r.host}` : ''}: ${how}`.replace(
          / +/g,
          ' ',
        );
      }),
    ),
    ...section('waiting', [
      `${queue.kernels} kernels, ${queue.boots} boots${queue.boot_seconds ? `, ${Math.round(queue.boot_seconds)} s each` : ''}`,
    ]),
    ...section(
      'pairs',
      pairs.map((p) => {
        const range = `${p.base_sha?.slice(0, 12)}..${p.head_sha?.slice(0, 12)}`;
        return `${p.id} ${range} ${p.testcase}: ${p.line ?? `${p.state}, ${p.boots_done} boots done, ${p.boots_open} open`}`;
      }),
    ),
  ].join('\n')}\n`;
}
