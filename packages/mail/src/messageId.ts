import { MailError } from './errors.ts';
import { parseRecipient } from './parseRecipient.ts';

/**
 * `<kd.YYYYMMDD.rNNNNNNNN.SEQ@DOMAIN>`: made from the report's id and its day, so the same report never gets a second one.
 * `seq` counts the mails of a report: 1 the report, 2… its follow-ups. Throws KD_MAIL_BAD_HEADER for a domain without a dot:
 * such ids count as a sign of spam.
 */
export function messageId(reportId: number, madeAt: Date, seq: number, from: string): string {
  const day = madeAt.toISOString().slice(0, 10).replaceAll('-', '');
  return `<kd.${day}.r${String(reportId).padStart(8, '0')}.${seq}@${senderDomain(from)}>`;
}

/** Domain of the configured From (`kdelta bot <kdelta@bot.example.org>`). */
export function senderDomain(from: string): string {
  const parsed = parseRecipient(from);
  if (parsed.kind === 'dropped') {
    throw new MailError(
      'KD_MAIL_BAD_HEADER',
      `mail.from "${from}" is ${parsed.why}; write it as: Name <bot@full.domain>`,
    );
  }
  return parsed.address.slice(parsed.address.lastIndexOf('@') + 1);
}
