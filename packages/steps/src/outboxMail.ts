import { gzipSync } from 'node:zlib';
import type { TreeConfig } from '@kdelta/jobs';
import {
  type Attachment,
  composeMail,
  isAllowed,
  type Mailbox,
  MailError,
  parseRecipient,
  planRecipients,
} from '@kdelta/mail';
import { writeMatrixJson } from '@kdelta/matrix';
import { mailSignature } from '@kdelta/report';
import {
  commit,
  type Db,
  insertEvent,
  judgement,
  listArtifacts,
  loadMatrix,
  outbox,
  pair,
  type report,
  testcase,
  tree,
} from '@kdelta/store';
import { eq } from 'drizzle-orm';
import type { Next, StepContext } from './context.ts';
import { bootFile } from './reportFacts.ts';

/** What composing needs of a step's context. */
export type MailContext = Pick<StepContext, 'store' | 'artifacts' | 'config' | 'clock'>;
type ReportRow = typeof report.$inferSelect;

/**
 * Composes the bytes of an approved report and puts them in the outbox: one mail with attachments for people, one with
 * links for lists (one for all where the tree says so or has no lists). To be called in the transaction that approves.
 * Throws KD_MAIL_NOT_ALLOWED for an address that the tree's rules don't let through.
 */
export async function queueMail(tx: Db, ctx: MailContext, row: ReportRow, approvedBy: string | null): Promise<Next[]> {
  const mail = ctx.config.mail;
  if (!mail) throw new Error('KD_REPORT_NO_SERVER: kdelta.yaml has no mail section; name the SMTP server there');
  const [treeRow] = await tx.select().from(tree).where(eq(tree.id, row.treeId));
  const [culprit] = await tx.select().from(commit).where(eq(commit.sha, row.culpritSha));
  const rules = (treeRow!.config as TreeConfig).mail;
  const planned = planRecipients(culprit!, rules);
  // The draft's own addresses count (a person may have changed them); names come from the commit.
  const names = new Map([...planned.to, ...planned.cc].map((m) => [m.address.toLowerCase(), m.name]));
  const mailbox = (text: string): Mailbox => {
    const parsed = parseRecipient(text);
    if (parsed.kind === 'dropped') throw new MailError('KD_MAIL_NOT_ALLOWED', `${text} is ${parsed.why}`);
    return { address: parsed.address, name: names.get(parsed.address.toLowerCase()) ?? parsed.name };
  };
  const to = row.to.map(mailbox);
  const cc = row.cc.map(mailbox);
  const everyone = [...to, ...cc];
  const outside = everyone.filter((m) => !isAllowed(m.address, rules.allow)).map((m) => m.address);
  if (outside.length)
    throw new MailError('KD_MAIL_NOT_ALLOWED', `${outside.join(', ')} is outside mail.allow of the tree`);
  const lists = rules.attachToLists ? [] : everyone.filter((m) => planned.lists.includes(m.address.toLowerCase()));
  const persons = everyone.filter((m) => !lists.includes(m));

  const parts = {
    from: mail.from,
    to,
    cc,
    subject: row.subject,
    messageId: row.messageId,
    date: ctx.clock.now(),
    text: row.body + mailSignature(mail.from, approvedBy),
    charset: rules.charset,
    reportId: row.id,
  };
  const versions: { audience: 'all' | 'people' | 'lists'; to: Mailbox[]; attachments: Attachment[] }[] = [];
  if (persons.length) {
    const attachments = await attachmentsOf(tx, ctx, row);
    versions.push({ audience: lists.length ? 'people' : 'all', to: persons, attachments });
  }
  if (lists.length) versions.push({ audience: 'lists', to: lists, attachments: [] });

  const next: Next[] = [];
  for (const version of versions) {
    const [made] = await tx
      .insert(outbox)
      .values({
        reportId: row.id,
        messageId: row.messageId,
        audience: version.audience,
        envelopeFrom: /<([^>]*)>/.exec(mail.from)?.[1] ?? mail.from,
        envelopeTo: version.to.map((m) => m.address),
        raw: composeMail({ ...parts, attachments: version.attachments }),
      })
      .onConflictDoNothing()
      .returning({ id: outbox.id });
    if (made) next.push({ step: 'send', id: made.id });
  }
  await insertEvent(tx, {
    kind: 'report.queued',
    subject: `report:${row.id}`,
    data: { mails: next.length, to: everyone.map((m) => m.address) },
  });
  return next;
}

/** `reproduce`, `job.yaml`, `kconfig.gz` and both matrices, as far as they are kept. */
async function attachmentsOf(tx: Db, ctx: MailContext, row: ReportRow): Promise<Attachment[]> {
  if (row.judgementId === null || row.pairId === null) return [];
  const [judged] = await tx.select().from(judgement).where(eq(judgement.id, row.judgementId));
  const [p] = await tx.select().from(pair).where(eq(pair.id, row.pairId));
  const [tc] = await tx.select().from(testcase).where(eq(testcase.id, p!.testcaseId));
  const found: Attachment[] = [];
  const text = (filename: string, content: Buffer) => found.push({ filename, contentType: 'text/plain', content });

  const reproduce = await bootFile(ctx, judged!.headBoots, 'reproduce');
  if (reproduce) text('reproduce', reproduce);
  if (tc!.jobYaml) text('job.yaml', Buffer.from(tc!.jobYaml));
  const files = await listArtifacts(ctx.store.pool, { kernelId: p!.headKernelId });
  const config = files.find((f) => f.name === 'config');
  const kconfig = config && (await ctx.artifacts.get(config.sha256).catch(() => null));
  if (kconfig) found.push({ filename: 'kconfig.gz', contentType: 'application/gzip', content: gzipSync(kconfig) });
  text('matrix-parent.json', Buffer.from(writeMatrixJson(await loadMatrix(tx, judged!.baseBoots))));
  text('matrix-culprit.json', Buffer.from(writeMatrixJson(await loadMatrix(tx, judged!.headBoots))));
  return found;
}
