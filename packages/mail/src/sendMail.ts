import { createTransport } from 'nodemailer';
import { MailError } from './errors.ts';
import { isAllowed } from './planRecipients.ts';

export interface Envelope {
  from: string;
  to: string[];
}

export type SendOutcome =
  /** The server took it; `rejected` are recipients that it refused while it took others. */
  | { kind: 'sent'; response: string; accepted: string[]; rejected: { address: string; response: string }[] }
  /** Not taken, may be tried again with the same bytes (4xx, server away before DATA). */
  | { kind: 'later'; response: string }
  /** Not taken, for good (5xx for all of it). */
  | { kind: 'refused'; response: string }
  /** The answer to the message itself was lost: nobody knows; never repeated by itself. */
  | { kind: 'unknown'; response: string };

/**
 * Hands one composed mail to the SMTP server (`smtp://[user:pass@]host:port`, `smtps://…`) and says what became of it.
 * `allow` is checked here again, on the envelope, as the last gate: throws KD_MAIL_NOT_ALLOWED before anything is sent.
 */
export async function sendMail(
  smtp: string,
  envelope: Envelope,
  raw: Buffer,
  allow: string[],
  timeoutMs = 60_000,
): Promise<SendOutcome> {
  const outside = envelope.to.filter((a) => !isAllowed(a, allow));
  if (outside.length || !envelope.to.length) {
    throw new MailError(
      outside.length ? 'KD_MAIL_NOT_ALLOWED' : 'KD_MAIL_NOBODY',
      outside.length ? `${outside.join(', ')} is outside mail.allow of the tree` : 'the envelope is empty',
    );
  }

  // An error's own fields don't tell whether the message had begun when the connection was lost: the command log does.
  let dataBegun = false;
  const log = (entry: { tnx?: string }, text: string) => {
    if (entry?.tnx === 'client' && text === 'DATA') dataBegun = true;
  };
  const quiet = () => {};
  const logger = { level: quiet, trace: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet, debug: log };
  const transport = createTransport({
    ...smtpOptions(smtp),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    transactionLog: true,
    logger: logger as never,
  });
  try {
    const info: SmtpInfo = await transport.sendMail({
      raw,
      envelope: { from: envelope.from, to: envelope.to, use8BitMime: true },
    });
    const errors = info.rejectedErrors ?? [];
    return {
      kind: 'sent',
      response: info.response,
      accepted: info.accepted.map(String),
      rejected: errors.map((e) => ({ address: e.recipient ?? '', response: e.response ?? '' })),
    };
  } catch (error) {
    const e = error as Error & { code?: string; responseCode?: number; response?: string };
    const response = e.response ?? e.message;
    // A login that the relay refuses (530, 534, 535 …) is the bot's own trouble: it says nothing of the recipients.
    if (e.code === 'EAUTH') return { kind: 'later', response };
    if (e.responseCode) return { kind: e.responseCode >= 500 ? 'refused' : 'later', response };
    return { kind: dataBegun ? 'unknown' : 'later', response };
  } finally {
    transport.close();
  }
}

interface SmtpInfo {
  response: string;
  accepted: unknown[];
  rejectedErrors?: { recipient?: string; response?: string }[];
}

function smtpOptions(smtp: string) {
  const url = new URL(smtp);
  const secure = url.protocol === 'smtps:';
  return {
    host: url.hostname,
    port: Number(url.port) || (secure ? 465 : 25),
    secure,
    ...(url.username && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    // A relay on this machine has no certificate that anyone could check.
    ...(/^(localhost|127\.|\[::1\])/.test(url.hostname) && { ignoreTLS: true }),
  };
}
