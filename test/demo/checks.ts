import type { CaughtMail } from './catcher.ts';
import type { Dashboard } from './dashboard.ts';
import type { Planted } from './plantCommits.ts';

export interface Check {
  what: string;
  ok: boolean;
  saw: string;
}

/** The KPIs of pft; with one worker they move together, and either may lead. */
const kpis = ['pft.faults_per_sec_per_cpu', 'pft.faults_per_sec'];

/** Compares what the bot said, by mail and on its pages, with what was planted. Everything is read from outside. */
export async function checkFound(
  board: Dashboard,
  planted: Planted,
  mails: CaughtMail[],
  list: string,
): Promise<Check[]> {
  const checks: Check[] = [];
  const check = (what: string, ok: boolean, saw: string) => checks.push({ what, ok, saw });
  const culprit = planted.culprit!;
  const parent = culprit.parents[0]!;

  const bisects = await board.bisects();
  check(
    'the bisect names the culprit',
    bisects.length === 1 && bisects[0]!.state === 'done' && bisects[0]!.culprit_sha === culprit.sha,
    bisects.map((b) => b.culprit_sha?.slice(0, 10)).join(', ') || 'no bisect',
  );
  const reports = await board.reports();
  check(
    'one report, on the culprit',
    reports.length === 1 && reports[0]!.culprit_sha === culprit.sha && reports[0]!.state === 'sent',
    reports.map((r) => `${r.culprit_sha.slice(0, 10)} ${r.state}`).join(', ') || 'none',
  );
  const pairId = reports[0]?.pair_id;
  if (!pairId) return checks;
  const pair = await board.pair(pairId);
  const kpi = kpis.find((k) => reports[0]!.subject.includes(` ${k} `)) ?? kpis[0]!;
  const delta = pair.deltas.find((d) => d.metric === kpi);
  check(
    'verdict: regression of the culprit against its parent',
    pair.base.sha === parent && pair.head.sha === culprit.sha && delta?.verdict === 'regression',
    `${pair.base.sha?.slice(0, 10)}..${pair.head.sha?.slice(0, 10)} ${pair.line}`,
  );

  const measured = await changeFromMatrices(board, pairId, kpi);
  check('both matrices hold the KPI of every boot', measured.boots >= 3, `${measured.boots} boots`);
  checkMails(check, mails, { author: culprit.authorEmail, list, sha: culprit.sha, kpi, pct: measured.pct });

  for (const [path, text] of [
    [`/pairs/${pairId}`, kpi],
    [`/bisects/${bisects[0]?.id}`, culprit.sha.slice(0, 10)],
    [`/r/${reports[0]!.id}`, culprit.sha.slice(0, 10)],
    ['/', culprit.sha.slice(0, 10)],
  ] as const) {
    const page = await board.page(path);
    check(`the page ${path} shows it`, page.status === 200 && page.text.includes(text), `status ${page.status}`);
  }

  const comment = planted.commits.find((c) => c.kind === 'comment-only');
  if (comment) {
    const boots = await board.boots(`sha=${comment.sha}`);
    check('the comment-only commit cost no boot', boots.length === 0, `${boots.length} boots`);
  }
  return checks;
}

/** With nothing planted: every pair was judged, none a regression, no bisect, no mail. */
export async function checkQuiet(board: Dashboard, mails: CaughtMail[]): Promise<Check[]> {
  const overview = await board.overview();
  const reports = await board.reports();
  const bisects = await board.bisects();
  const pairs = overview.pairs;
  return [
    {
      what: 'all pairs are judged, none a regression',
      ok: pairs.length > 0 && pairs.every((p) => p.state === 'judged' && p.verdict !== 'regression'),
      saw: pairs.map((p) => `${p.state} ${p.verdict}`).join(', '),
    },
    { what: 'no bisect started', ok: bisects.length === 0, saw: String(bisects.length) },
    { what: 'no report was written', ok: reports.length === 0, saw: String(reports.length) },
    { what: 'no mail was made', ok: mails.length === 0, saw: String(mails.length) },
  ];
}

function checkMails(
  check: (what: string, ok: boolean, saw: string) => void,
  mails: CaughtMail[],
  { author, list, sha, kpi, pct }: { author: string; list: string; sha: string; kpi: string; pct: number },
): void {
  const envelope = mails.flatMap((m) => m.to).sort();
  check(
    'mail to the author and the list, once each, and to nobody else',
    JSON.stringify(envelope) === JSON.stringify([author, list].sort()),
    envelope.join(', '),
  );
  const mail = mails.find((m) => m.to.includes(author))?.mail;
  const subject = mail?.subject ?? '';
  check(
    'its subject names commit, metric and size',
    subject.includes(sha.slice(0, 10)) && subject.includes(`${kpi} ${Math.abs(pct).toFixed(1)}% regression`),
    subject,
  );
  const row = /\\ +\| +\\\n(.*)\n/.exec(mail?.text ?? '')?.[1] ?? '';
  const inTable = Number(/([+-]\d+\.\d)%/.exec(row)?.[1]);
  check(
    'the first row of its table is the KPI, as the matrices have it (± 0.1 point)',
    row.endsWith(kpi) && Math.abs(inTable - pct) <= 0.1,
    row.trim(),
  );
  const names = mail?.attachments.map((a) => a.filename) ?? [];
  check(
    'it carries reproduce, job.yaml, kconfig.gz and both matrices',
    ['reproduce', 'job.yaml', 'kconfig.gz', 'matrix-parent.json', 'matrix-culprit.json'].every((n) =>
      names.includes(n),
    ),
    names.join(', '),
  );
}

/** The KPI's change from the pair's matrix.json files, by plain arithmetic. */
async function changeFromMatrices(
  board: Dashboard,
  pairId: number,
  kpi: string,
): Promise<{ pct: number; boots: number }> {
  const means: number[] = [];
  let boots = Number.POSITIVE_INFINITY;
  for (const side of ['base', 'head']) {
    const page = await board.page(`/pairs/${pairId}/${side}.matrix.json`);
    const values = ((JSON.parse(page.text) as Record<string, (number | null)[]>)[kpi] ?? []).filter((v) => v !== null);
    boots = Math.min(boots, values.length);
    means.push(values.reduce((sum, v) => sum + v, 0) / values.length);
  }
  return { pct: 100 * (means[1]! / means[0]! - 1), boots };
}
