import type { z } from 'zod';
import type { Bisect, Boot, Host, Pair, PairDetail, Report, Tree } from '../../apps/server/src/api/schemas.ts';

/**
 * Every kind of page of a kdelta that runs, on the newest there is of each, with a text that must stand on it: what has no
 * row yet has no page. Read from its API, as anybody could.
 */
export async function realPages(url: string): Promise<[path: string, text: string][]> {
  const items = async <T extends z.ZodType>(what: string): Promise<z.output<T>[]> =>
    ((await (await fetch(`${url}/api/v1/${what}`)).json()) as { items: z.output<T>[] }).items;
  const [reports, bisects, pairs, boots, hosts, trees] = await Promise.all([
    items<typeof Report>('reports?limit=1'),
    items<typeof Bisect>('bisects?limit=1'),
    items<typeof Pair>('pairs?limit=100&state=judged'),
    items<typeof Boot>('boots?limit=100&state=done'),
    items<typeof Host>('hosts'),
    items<typeof Tree>('trees'),
  ]);
  const pages: [string, string][] = [
    ['/', pairs[0]?.testcase ?? 'Overview'],
    ['/pairs', pairs[0]?.testcase ?? 'Pairs'],
    ['/reports', reports[0]?.subject ?? 'Reports'],
    ['/bisects', bisects[0]?.metric ?? 'Bisects'],
    ['/hosts', hosts[0]?.name ?? 'Hosts'],
    ['/trees', trees[0]?.name ?? 'Trees'],
    ['/noise', pairs[0]?.testcase ?? 'Noise'],
    ['/api', '/api/v1/pairs'],
    ['/sign-in', 'Token'],
    ['/bisects/new', 'certainty'],
  ];
  const pairId = reports[0]?.pair_id ?? pairs[0]?.id;
  if (pairId) {
    const pair = (await (await fetch(`${url}/api/v1/pairs/${pairId}`)).json()) as z.output<typeof PairDetail>;
    const { base, head, testcase } = pair;
    const kpi = pair.deltas.find((delta) => delta.kpi)?.metric ?? pair.deltas[0]!.metric;
    const metric = encodeURIComponent(kpi);
    pages.push(
      [`/pairs/${pairId}`, kpi],
      [`/pairs/${pairId}?m=${metric}`, 'Boot by boot'],
      [`/compare?base=${base.id}&head=${head.id}&testcase=${testcase.id}`, kpi],
      [`/history?testcase=${testcase.id}&metric=${metric}`, kpi],
      [`/bisects/new?pair=${pairId}&metric=${metric}`, kpi],
      [`/kernels/${head.id}?against=${base.id}`, head.release ?? 'kernel'],
      ...(head.sha ? [[`/commits/${head.sha}`, head.sha] as [string, string]] : []),
    );
  }
  for (const bisect of bisects) pages.push([`/bisects/${bisect.id}`, bisect.metric]);
  for (const report of reports) pages.push([`/r/${report.id}`, report.subject]);
  for (const boot of boots.slice(0, 1)) pages.push([`/boots/${boot.id}`, boot.testcase]);
  for (const host of hosts.slice(0, 1)) pages.push([`/hosts/${host.name}`, host.name]);
  const mapanon = boots.filter((boot) => boot.program === 'mapanon');
  const [newest] = mapanon;
  const other = mapanon.find((b) => b.testcase_id === newest?.testcase_id && b.kernel_id !== newest.kernel_id);
  if (newest) pages.push([`/mapanon?boots=${[other?.id, newest.id].filter(Boolean).join(',')}`, 'mapanon']);
  return pages;
}
