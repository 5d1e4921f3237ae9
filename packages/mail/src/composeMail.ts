import { createHash } from 'node:crypto';
import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { MailError } from './errors.ts';
import { type Mailbox, parseRecipient } from './parseRecipient.ts';

export interface Attachment {
  /** Fixed ASCII name. */
  filename: string;
  contentType: 'text/plain' | 'application/gzip';
  content: Buffer;
}

export interface MailParts {
  from: string;
  to: Mailbox[];
  cc: Mailbox[];
  subject: string;
  messageId: string;
  date: Date;
  text: string;
  charset: 'utf-8' | 'ascii';
  attachments: Attachment[];
  inReplyTo?: string;
  references?: string[];
  /** mailto: address for Robot-Unsubscribe. */
  unsubscribe?: string;
  reportId?: number;
}

/**
 * The bytes of a mail, the same for the same parts: they are stored before they are sent, and a retry sends them again.
 * Composed here because the table must arrive with its lines unwrapped (8bit, one row per line), which nodemailer's own
 * composer can't do; header values are encoded by nodemailer. Lines end in CRLF, none is over 998 octets.
 * Throws KD_MAIL_BAD_HEADER for a From that isn't one plain address.
 */
export function composeMail(mail: MailParts): Buffer {
  const from = parseRecipient(mail.from);
  if (from.kind === 'dropped') throw new MailError('KD_MAIL_BAD_HEADER', `mail.from "${mail.from}" is ${from.why}`);
  if (!mail.to.length) throw new MailError('KD_MAIL_NOBODY', 'a mail needs at least one address in To');

  const headers: [string, unknown][] = [
    ['From', { name: from.name, address: from.address }],
    ['To', mail.to],
  ];
  if (mail.cc.length) headers.push(['Cc', mail.cc]);
  headers.push(['Subject', cleanSubject(mail.subject)], ['Message-ID', mail.messageId]);
  if (mail.inReplyTo) headers.push(['In-Reply-To', mail.inReplyTo]);
  if (mail.references?.length) headers.push(['References', mail.references]);
  headers.push(
    ['Date', mail.date],
    ['Auto-Submitted', 'auto-generated'],
    ['X-Auto-Response-Suppress', 'OOF, AutoReply'],
    ['X-Patchwork-Hint', 'ignore'],
  );
  if (mail.unsubscribe) headers.push(['Robot-Unsubscribe', `mailto:${mail.unsubscribe}`]);
  if (mail.reportId !== undefined) headers.push(['X-Kdelta-Report', String(mail.reportId)]);
  headers.push(['MIME-Version', '1.0']);

  const head = headers.map(([key, value]) => header(key, value)).join('');
  const body = textPart(mail.text, mail.charset);
  if (!mail.attachments.length) return Buffer.concat([Buffer.from(head), body]);

  const boundary = `kd-${createHash('sha256').update(mail.messageId).digest('hex').slice(0, 32)}`;
  const parts: Buffer[] = [Buffer.from(`${head}Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`)];
  for (const part of [body, ...mail.attachments.map(attachmentPart)]) {
    parts.push(Buffer.from(`--${boundary}\r\n`), part, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(parts);
}

/** At most 120 printable ASCII characters; a would-be encoded word stays what it looks like. */
export function cleanSubject(text: string): string {
  const ascii = text
    .normalize('NFKD')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replaceAll('=?', '= ?')
    .replace(/\s+/g, ' ')
    .trim();
  return ascii.length <= 120 ? ascii : `${ascii.slice(0, 117)}...`;
}

function header(key: string, value: unknown): string {
  const encoded = MimeNode.encodeHeaderValue(key, value as Parameters<typeof MimeNode.encodeHeaderValue>[1]);
  return `${foldLines(`${key}: ${encoded}`, 76)}\r\n`;
}

function textPart(text: string, charset: 'utf-8' | 'ascii'): Buffer {
  const clean = bodyLines(charset === 'ascii' ? toAscii(text) : text);
  const type = charset === 'ascii' ? 'us-ascii' : 'utf-8';
  return Buffer.from(
    `Content-Type: text/plain; charset=${type}\r\nContent-Transfer-Encoding: ${charset === 'ascii' ? '7bit' : '8bit'}\r\n` +
      `Content-Disposition: inline\r\n\r\n${clean}`,
  );
}

/** CRLF lines of at most 998 octets; mbox writers change a line that begins with "From ", so it is indented. */
function bodyLines(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n?$/, '\n').split('\n');
  return lines
    .map((line) => line.replace(/[\x00-\x08\x0b-\x1f\x7f]|[\u202a-\u202e\u2066-\u2069]/g, ' '))
    .map((line) => (line.startsWith('From ') ? ` ${line}` : line))
    .map((line) => (Buffer.byteLength(line) <= 998 ? line : `${cut(line, 990)}...`))
    .join('\r\n');
}

/** The longest prefix of at most `octets` that ends between characters. */
function cut(line: string, octets: number): string {
  let used = 0;
  let out = '';
  for (const c of line) {
    used += Buffer.byteLength(c);
    if (used > octets) break;
    out += c;
  }
  return out;
}

function toAscii(text: string): string {
  return text
    .replaceAll('±', '~')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x00-\x7f]/gu, '?');
}

function attachmentPart(a: Attachment): Buffer {
  const readable = a.contentType === 'text/plain' && sendableText(a.content);
  const head =
    `Content-Type: ${a.contentType}${a.contentType === 'text/plain' ? '; charset=utf-8' : ''}; name="${a.filename}"\r\n` +
    `Content-Disposition: attachment; filename="${a.filename}"\r\n` +
    `Content-Transfer-Encoding: ${readable ? '8bit' : 'base64'}\r\n\r\n`;
  const content = readable
    ? a.content.toString('utf8').replace(/\r?\n/g, '\r\n')
    : a.content.toString('base64').replace(/(.{76})/g, '$1\r\n');
  return Buffer.from(head + content);
}

/** Text that 8bit carries unchanged: UTF-8, no bare CR or NUL, lines of at most 998 octets, nothing an mbox would change. */
function sendableText(content: Buffer): boolean {
  const text = content.toString('utf8');
  return (
    Buffer.from(text).equals(content) &&
    !/[\r\x00]|^From /m.test(text) &&
    text.split('\n').every((l) => Buffer.byteLength(l) <= 998)
  );
}
