import type { TreeConfig } from '@kdelta/jobs';
import { type SendOutcome, sendMail } from '@kdelta/mail';
import { claimRow, type Db, insertEvent, lockClaimed, outbox, report, takeBackClaims, tree } from '@kdelta/store';
import { and, eq, inArray, lte, sql } from 'drizzle-orm';
import type { StepContext, StepDef } from './context.ts';
import { only, unclaimed } from './withClaim.ts';

/** After this many answers of "later" (some two days) it is given up. */
const maxTries = 12;

/**
 * Sends one mail of the outbox, at most once:
 *
 *     queued ──committed before SMTP begins──► sending ──250──► sent
 *        ▲                                        │ 4xx, or the server away before DATA: nothing was taken
 *        └────────────────────────────────────────┤
 *                                                 │ 5xx for all ──► refused
 *                                                 └ the answer was lost, or this row found in `sending` by anyone else
 *                                                   ──► unknown: a person looks whether it arrived
 */
export const sendStep: StepDef = {
  name: 'send',
  run: sendOne,
  due: (db, id) =>
    db
      .select({ id: outbox.id, attempt: outbox.attempt })
      .from(outbox)
      .where(and(only(outbox, id), unclaimed(outbox), eq(outbox.state, 'queued'), lte(outbox.nextTryAt, sql`now()`))),
  takeBack: async (db) => {
    // One transaction: a mail that is unknown under a report that says `sending` would never be looked at.
    return db.transaction(async (tx) => {
      const lost = await takeBackClaims(tx, outbox, ['sending'], 'unknown');
      if (lost.length === 0) return 0;
      const response = 'the worker was lost while it sent; look whether the mail arrived';
      for (const row of await tx.select().from(outbox).where(inArray(outbox.id, lost))) {
        await insertEvent(tx, {
          kind: 'mail.unknown',
          subject: `report:${row.reportId}`,
          data: { to: row.envelopeTo, response },
        });
        await settleReport(tx, row.reportId, response);
      }
      return lost.length;
    });
  },
};

async function sendOne(ctx: StepContext, id: number): Promise<void> {
  const mail = ctx.config.mail;
  if (!mail) return;
  // Not withClaim: that gives a row back when its work fails, and a mail that may have gone must never be given back.
  const got = await claimRow(ctx.db, outbox, id, { from: ['queued'], to: 'sending', ttlMs: 180_000 });
  if (!got) return;
  const { row, token } = got;
  const [owner] = await ctx.db
    .select({ config: tree.config })
    .from(report)
    .innerJoin(tree, eq(tree.id, report.treeId))
    .where(eq(report.id, row.reportId));
  await ctx.db
    .update(report)
    .set({ state: 'sending' })
    .where(and(eq(report.id, row.reportId), eq(report.state, 'approved')));

  let outcome: SendOutcome;
  try {
    const allow = (owner!.config as TreeConfig).mail.allow;
    outcome = await sendMail(mail.smtp, { from: row.envelopeFrom, to: row.envelopeTo }, row.raw, allow);
  } catch (error) {
    // The gate before SMTP: nothing was sent.
    outcome = { kind: 'refused', response: (error as Error).message };
  }
  if (outcome.kind === 'later' && row.attempt + 1 >= maxTries) outcome = { ...outcome, kind: 'refused' };

  await ctx.store.transact(async (tx) => {
    if (!(await lockClaimed(tx, outbox, id, token))) return;
    const rejected = outcome.kind === 'sent' ? outcome.rejected : [];
    await tx
      .update(outbox)
      .set({
        state: outcome.kind === 'later' ? 'queued' : outcome.kind,
        response: [outcome.response, ...rejected.map((r) => `${r.address}: ${r.response}`)].join('\n'),
        claim: null,
        claimUntil: null,
        attempt: row.attempt + 1,
        ...(outcome.kind === 'sent' && { sentAt: ctx.clock.now() }),
        nextTryAt: sql`now() + ${Math.min(4 ** row.attempt * 5, 4 * 3600)} * interval '1 second'`,
      })
      .where(eq(outbox.id, id));
    await insertEvent(tx, {
      kind: `mail.${outcome.kind}`,
      subject: `report:${row.reportId}`,
      data: { to: row.envelopeTo, response: outcome.response, rejected },
    });
    await settleReport(tx, row.reportId, outcome.response);
  });
  ctx.log.info(
    { report: row.reportId, outbox: id, outcome: outcome.kind, response: outcome.response },
    'mail handed over',
  );
}

/** The report's state follows its mails: unknown if any is, sent when all ended and one was taken, else back to a person. */
async function settleReport(db: Db, reportId: number, response: string): Promise<void> {
  const mails = await db.select({ state: outbox.state }).from(outbox).where(eq(outbox.reportId, reportId));
  const states = new Set(mails.map((m) => m.state));
  const open = states.has('queued') || states.has('sending');
  const state = states.has('unknown') ? 'unknown' : open ? 'sending' : states.has('sent') ? 'sent' : 'draft';
  await db
    .update(report)
    .set({
      state,
      stateAt: sql`now()`,
      ...(state === 'draft' && { note: `the server refused it: ${response.slice(0, 500)}` }),
      ...(state === 'unknown' && { note: response.slice(0, 500) }),
    })
    .where(and(eq(report.id, reportId), sql`${report.state} in ('approved', 'sending', 'sent')`));
}
