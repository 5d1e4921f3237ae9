import { renderTable } from '@kdelta/report';
import { loadMatrix } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { percent, probability, shortSha, value } from '../../numbers.ts';
import { changeText } from '../../parts/words.tsx';
import { notFound } from '../../problems.ts';
import { urls } from '../../urls.ts';
import { allDeltas, type PairPage, pairPage } from './data.ts';

/** The pair as a mail would show it: verdict, then the table in ncompare's layout. */
export async function pairText(ctx: ServerContext, id: number): Promise<string> {
  const data = await pairPage(ctx, id, {});
  const { pair, judgement } = data;
  if (!judgement || pair.judgement_id === null) throw notFound('judgement of pair', id, 'Its boots are not all done.');
  const deltas = await allDeltas(ctx, pair.judgement_id);
  const [base, head] = await Promise.all([
    loadMatrix(ctx.store.db, judgement.base_boots),
    loadMatrix(ctx.store.db, judgement.head_boots),
  ]);
  const column = (side: 'base' | 'head', matrix: typeof base) => ({
    heading: pair[side].sha ?? pair[side].package ?? String(pair[side].id),
    subject: pair[side].subject ?? undefined,
    matrix,
  });
  const table = renderTable({
    columns: [column('base', base), column('head', head)],
    deltas: [deltas],
    axes: [
      ['kconfig', pair.head.kconfig],
      ...Object.entries(pair.params),
      ['tbox_group', pair.tbox_group],
      ['testcase', pair.testcase],
    ],
  });
  return `${pair.line}\n${ctx.config.url}${urls.pair(id)}\n\n${table}`;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The KPIs and what changed as a Markdown table. */
export async function pairMarkdown(ctx: ServerContext, id: number): Promise<string> {
  const data: PairPage = await pairPage(ctx, id, {});
  const { pair } = data;
  const rows = [
    ...data.kpis,
    ...data.rows.filter((delta) => delta.verdict !== 'same' && delta.verdict !== 'inconclusive'),
  ];
  const lines = [
    `**${cell(pair.line ?? pair.state)}**`,
    '',
    `${pair.testcase} on ${pair.tbox_group}, ${shortSha(pair.base.sha)} → ${shortSha(pair.head.sha)}, ${ctx.config.url}${urls.pair(id)}`,
    '',
    '| metric | base | change | head | 95 % interval | q | verdict |',
    '|---|---:|---:|---:|---:|---:|---|',
    ...rows.map((delta) => {
      const ci = delta.ci95Pct ? `${percent(delta.ci95Pct[0])} … ${percent(delta.ci95Pct[1])}` : '';
      const verdict = [delta.verdict, ...delta.flags].join(', ');
      return `| ${cell(delta.metric)} | ${value(delta.base.mean)} | ${changeText(delta)} | ${value(delta.head.mean)} | ${ci} | ${probability(delta.q)} | ${verdict} |`;
    }),
  ];
  return `${lines.join('\n')}\n`;
}
