import { MailError } from '@kdelta/mail';
import { insertEvent, outbox, report } from '@kdelta/store';
import { eq, sql } from 'drizzle-orm';
import type { Next, StepContext } from './context.ts';
import { queueMail } from './outboxMail.ts';

export type DecideErrorCode =
  | 'KD_REPORT_UNKNOWN'
  | 'KD_REPORT_STATE'
  | 'KD_REPORT_NOBODY'
  | 'KD_REPORT_NO_SERVER'
  | 'KD_REPORT_NOT_ALLOWED';

export class DecideError extends Error {
  /** The command's exit status: the request was wrong. */
  readonly exitStatus = 2;
  constructor(
    readonly code: DecideErrorCode,
    message: string,
  ) {
    super(`${code}: ${message}`);
    this.name = 'DecideError';
  }
}

/** What deciding needs of a step's context: servers and the command hand in theirs. */
export type DecideContext = Pick<StepContext, 'store' | 'db' | 'artifacts' | 'config' | 'clock' | 'enqueue'>;

/**
 * A person's yes to a draft: it is sent, to those whom the tree's rules allow. Throws KD_REPORT_UNKNOWN, KD_REPORT_STATE
 * (not a draft), KD_REPORT_NOBODY (no address is left), KD_REPORT_NOT_ALLOWED (one is outside the rules), KD_REPORT_NO_SERVER.
 */
export async function approveReport(ctx: DecideContext, id: number, by: string): Promise<void> {
  if (!ctx.config.mail) {
    throw new DecideError('KD_REPORT_NO_SERVER', 'kdelta.yaml has no mail section; name the SMTP server there');
  }
  const next = await ctx.store.transact(async (tx): Promise<Next[]> => {
    const [row] = await tx.select().from(report).where(eq(report.id, id)).for('update');
    if (!row) throw new DecideError('KD_REPORT_UNKNOWN', `there is no report ${id}; \`kdelta report list\` shows them`);
    if (row.state !== 'draft')
      throw new DecideError('KD_REPORT_STATE', `report ${id} is ${row.state}, only a draft can be approved`);
    if (!row.to.length) {
      throw new DecideError('KD_REPORT_NOBODY', `report ${id} has no address that mail.allow of its tree lets through`);
    }
    // A mail that was refused is composed anew; one that was taken stays what it is.
    await tx.delete(outbox).where(sql`${outbox.reportId} = ${id} and ${outbox.state} = 'refused'`);
    const rows = await queueMail(tx, ctx, row, by).catch((error: unknown) => {
      throw error instanceof MailError ? new DecideError('KD_REPORT_NOT_ALLOWED', error.message) : error;
    });
    if (!rows.length) {
      throw new DecideError('KD_REPORT_NOBODY', `report ${id} has no address that mail.allow of its tree lets through`);
    }
    await tx
      .update(report)
      .set({ state: 'approved', stateAt: ctx.clock.now(), note: `approved by ${by}` })
      .where(eq(report.id, id));
    await insertEvent(tx, { kind: 'report.approve', subject: `report:${id}`, actor: by });
    return rows;
  });
  await ctx.enqueue(next);
}

/** A person's no to a draft, with the reason. Throws KD_REPORT_UNKNOWN, KD_REPORT_STATE. */
export async function rejectReport(
  ctx: Pick<DecideContext, 'store' | 'clock'>,
  id: number,
  by: string,
  why: string,
): Promise<void> {
  await ctx.store.transact(async (tx) => {
    const [row] = await tx.select().from(report).where(eq(report.id, id)).for('update');
    if (!row) throw new DecideError('KD_REPORT_UNKNOWN', `there is no report ${id}; \`kdelta report list\` shows them`);
    if (row.state !== 'draft')
      throw new DecideError('KD_REPORT_STATE', `report ${id} is ${row.state}, only a draft can be rejected`);
    await tx
      .update(report)
      .set({
        state: 'rejected',
        stateAt: ctx.clock.now(),
        note: why ? `rejected by ${by}: ${why}` : `rejected by ${by}`,
      })
      .where(eq(report.id, id));
    await insertEvent(tx, { kind: 'report.reject', subject: `report:${id}`, actor: by, data: { why } });
  });
}
