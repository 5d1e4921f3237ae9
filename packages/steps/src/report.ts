import { messageId, planRecipients, type Recipients } from '@kdelta/mail';
import { mailBody, mailSubject } from '@kdelta/report';
import { type Db, insertEvent, pair, report, takeBackClaims } from '@kdelta/store';
import { and, eq, gte, inArray, sql } from 'drizzle-orm';
import type { StepContext, StepDef } from './context.ts';
import { queueMail } from './outboxMail.ts';
import { gatherFacts, type ReportFacts } from './reportFacts.ts';
import { withClaim } from './withClaim.ts';

/**
 * Writes the report on a culprit: the row of the pair parent → culprit, judged and not yet reported. A culprit is reported
 * once per tree; what other testcases and pairs find of it later is evidence of the same report. The report is `approved`
 * by the tree's rules or waits as `draft` for a person (reference: mail.md §2).
 */
export const reportStep: StepDef = {
  name: 'report',
  run: writeReport,
  due: async (db, id) => {
    const { rows } = await db.execute<{ id: number; attempt: number }>(sql`
      select p.id, p.attempt
        from pair p
        join kernel b on b.id = p.base_kernel_id
        join kernel h on h.id = p.head_kernel_id
        join commit c on c.sha = h.sha
        left join bisect s on s.id = p.bisect_id
       where p.state = 'judged' and p.claim is null and p.tree_id is not null and p.judgement_id is not null
         and ${id === undefined ? sql`true` : sql`p.id = ${id}`}
         and exists (select 1 from delta d where d.judgement_id = p.judgement_id and d.kpi and d.verdict = 'regression')
         and case when s.id is not null and s.verify_pair_id = p.id then s.state = 'done' and s.culprit_sha = h.sha
                  else c.parents = array[b.sha] end
         and not exists (select 1 from report r
                          where r.tree_id = p.tree_id and r.culprit_sha = h.sha and r.kind = 'regression')
       order by p.id`);
    return rows;
  },
  // The judge takes back what is held while judging; here a judged pair is held for moments only.
  takeBack: async (db) => (await takeBackClaims(db, pair, ['judged'])).length,
};

async function writeReport(ctx: StepContext, id: number): Promise<void> {
  await withClaim(ctx, pair, id, { from: ['judged'] }, async ({ row, finish }) => {
    if (await isReported(ctx.db, row.id)) return;
    const reportId = await nextReportId(ctx.db);
    const facts = await gatherFacts(ctx, id, reportId);
    if (!facts) return;
    const now = ctx.clock.now();
    const people = planRecipients(facts.culprit, facts.config.mail);
    const hold = [...people.hold, ...(await heldBy(ctx, facts, people, now))];
    if ((facts.mail.search?.revert?.oldLevel ?? 1) <= 0.05)
      hold.push('reverting the culprit does not bring the old level back');
    const approved = facts.config.mail.mode === 'auto' && hold.length === 0;
    const from = facts.mail.from;

    await finish(async (tx) => {
      const made = await tx
        .insert(report)
        .overridingSystemValue()
        .values({
          id: reportId,
          kind: 'regression',
          state: approved ? 'approved' : 'draft',
          treeId: facts.treeId,
          culpritSha: facts.culprit.sha,
          bisectId: facts.bisectId,
          pairId: facts.pairId,
          judgementId: facts.judgementId,
          subject: mailSubject(facts.mail),
          body: mailBody(facts.mail),
          to: people.to.map((m) => m.address),
          cc: people.cc.map((m) => m.address),
          dropped: people.dropped,
          note: hold.length ? `held: ${hold.join('; ')}` : null,
          messageId: messageId(reportId, now, 1, from),
          createdAt: now,
          stateAt: now,
        })
        .onConflictDoNothing({ target: [report.treeId, report.culpritSha, report.kind] })
        .returning();
      if (!made[0]) return [];
      await insertEvent(tx, {
        kind: 'report.written',
        subject: `report:${reportId}`,
        data: { state: made[0].state, culprit: facts.culprit.sha, held: hold },
      });
      ctx.log.info({ report: reportId, state: made[0].state, held: hold }, made[0].subject);
      return approved ? queueMail(tx, ctx, made[0], null) : [];
    });
  });
}

async function isReported(db: Db, pairId: number): Promise<boolean> {
  // Claimed by us, so `due` itself (which wants unclaimed rows) can't say it.
  const { rows } = await db.execute(sql`
    select 1 from pair p join kernel h on h.id = p.head_kernel_id
      join report r on r.tree_id = p.tree_id and r.culprit_sha = h.sha and r.kind = 'regression'
     where p.id = ${pairId}`);
  return rows.length > 0;
}

/** Taken ahead of the row: the Message-ID and the links in the text are made of it. */
async function nextReportId(db: Db): Promise<number> {
  const { rows } = await db.execute<{ id: string }>(sql`select nextval(pg_get_serial_sequence('report', 'id')) id`);
  return Number(rows[0]!.id);
}

/** Why the tree's rules keep this report for a person. */
async function heldBy(ctx: StepContext, facts: ReportFacts, people: Recipients, now: Date): Promise<string[]> {
  const held: string[] = [];
  if (!ctx.config.mail) held.push('no mail server in kdelta.yaml');
  if (facts.culprit.parents.length > 1) held.push('the culprit is a merge');
  if (/^This reverts commit/m.test(facts.culprit.body)) held.push('the culprit is a revert');
  const day = new Date(now.getTime() - 24 * 3600 * 1000);
  const today = await ctx.db
    .select({ to: report.to })
    .from(report)
    .where(
      and(
        eq(report.treeId, facts.treeId),
        inArray(report.state, ['approved', 'sending', 'sent', 'unknown']),
        gte(report.stateAt, day),
      ),
    );
  if (today.length >= facts.config.mail.perDay) held.push(`${facts.config.mail.perDay} mails in a day (mail.per_day)`);
  const author = people.to[0]?.address.toLowerCase();
  if (author && today.some((r) => r.to[0]?.toLowerCase() === author))
    held.push('a second report to this author in a day');
  return held;
}
