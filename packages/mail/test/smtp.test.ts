import { gunzipSync, gzipSync } from 'node:zlib';
import { simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { cleanSubject, composeMail, type MailParts, messageId, sendMail } from '../src/index.ts';

// Acceptance cases of the mail reference, §5, that concern outgoing mail, against a real SMTP server.

const running: SMTPServer[] = [];
afterEach(() => {
  for (const s of running.splice(0)) s.close();
});

/** A server on a free port; `received` collects the bytes of each message and its envelope. */
async function smtpServer(options: SMTPServerOptions = {}) {
  const received: { raw: Buffer; to: string[] }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (c: Buffer) => chunks.push(c));
      stream.on('end', () => {
        received.push({ raw: Buffer.concat(chunks), to: session.envelope.rcptTo.map((r) => r.address) });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  running.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.server.address() as { port: number };
  return { url: `smtp://127.0.0.1:${port}`, received, server };
}

const table = [
  '         %stddev     %change         %stddev',
  '             \\          |                \\',
  '     13537 ±  1%     -11.3%      12014 ±  1%  dbench.throughput_MB/s',
  `     12.10 ±  2%      +9.4       21.50 ±  3%  perf-profile.self.cycles-pp.${'x'.repeat(60)}=y`,
].join('\n');

const parts: MailParts = {
  from: 'kdelta bot <kdelta@bot.example.org>',
  to: [{ name: 'Äuthor Näme', address: 'author@example.org' }],
  cc: [{ name: 'Doe, John', address: 'john@example.org' }],
  subject: '[linus:master] [mm] 4f1e2d3c4b: dbench.throughput_MB/s 11.3% regression',
  messageId: messageId(42, new Date('2026-08-14T10:00:00Z'), 1, 'kdelta bot <kdelta@bot.example.org>'),
  date: new Date('2026-08-14T10:00:00Z'),
  text: `Hello,\n\nFrom here on\n.\n${table}\n`,
  charset: 'utf-8',
  attachments: [
    { filename: 'reproduce', contentType: 'text/plain', content: Buffer.from('#!/bin/sh\ndbench 4\n') },
    { filename: 'kconfig.gz', contentType: 'application/gzip', content: gzipSync('CONFIG_SMP=y\n') },
  ],
};
const allow = ['*@example.org'];
const envelope = { from: 'kdelta@bot.example.org', to: ['author@example.org', 'john@example.org'] };

test('the Message-ID is made of day, report and sequence', () => {
  expect(parts.messageId).toBe('<kd.20260814.r00000042.1@bot.example.org>');
  expect(() => messageId(1, parts.date, 1, 'bot@localhost')).toThrow('KD_MAIL_BAD_HEADER');
});

test('the table arrives byte for byte, unwrapped and without transfer encoding', async () => {
  const { url, received } = await smtpServer();
  const raw = composeMail(parts);
  const outcome = await sendMail(url, envelope, raw, allow);
  expect(outcome.kind).toBe('sent');
  expect(received[0]!.to).toEqual(envelope.to);
  expect(received[0]!.raw.equals(raw)).toBe(true);
  expect(received[0]!.raw.includes(Buffer.from(table.replaceAll('\n', '\r\n')))).toBe(true);
  expect(received[0]!.raw.includes(Buffer.from('Content-Transfer-Encoding: 8bit'))).toBe(true);
});

test('names, attachments and body read back as they were written', async () => {
  const mail = await simpleParser(composeMail(parts));
  expect(mail.to).toMatchObject({ value: [{ name: 'Äuthor Näme', address: 'author@example.org' }] });
  expect(mail.cc).toMatchObject({ value: [{ name: 'Doe, John', address: 'john@example.org' }] });
  expect(mail.messageId).toBe(parts.messageId);
  expect(mail.text).toContain(table);
  expect(mail.text).toContain('\n From here on');
  expect(mail.attachments.map((a) => a.filename)).toEqual(['reproduce', 'kconfig.gz']);
  expect(mail.attachments[0]!.content.toString().replaceAll('\r\n', '\n')).toBe('#!/bin/sh\ndbench 4\n');
  expect(gunzipSync(mail.attachments[1]!.content).toString()).toBe('CONFIG_SMP=y\n');
  expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
});

test('with charset ascii the mail is 7bit and ± is ~', () => {
  const raw = composeMail({ ...parts, charset: 'ascii' });
  expect(raw.every((b) => b < 0x80)).toBe(true);
  expect(raw.includes(Buffer.from('13537 ~  1%'))).toBe(true);
});

test('a subject is at most 120 plain ASCII characters and can hold no encoded word', () => {
  expect(cleanSubject('a\u001b[2J\u0000b\u202ec')).toBe('a [2J b c');
  expect(cleanSubject('mm: =?UTF-8?Q?x?=')).toBe('mm: = ?UTF-8?Q?x?=');
  expect(cleanSubject(`x: ${'m'.repeat(1200)}`)).toHaveLength(120);
});

test('a metric of 1,200 characters leaves no line over 998 octets', () => {
  const raw = composeMail({ ...parts, subject: 'm'.repeat(1200), text: `${'±'.repeat(1200)}\n` });
  for (const line of raw.toString('utf8').split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(998);
});

test('a server that says 451 gets the identical bytes again', async () => {
  let tries = 0;
  const seen: Buffer[] = [];
  const { url } = await smtpServer({
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (c: Buffer) => chunks.push(c));
      stream.on('end', () => {
        seen.push(Buffer.concat(chunks));
        done(++tries === 1 ? Object.assign(new Error('greylisted'), { responseCode: 451 }) : null);
      });
    },
  });
  const raw = composeMail(parts);
  expect((await sendMail(url, envelope, raw, allow)).kind).toBe('later');
  expect((await sendMail(url, envelope, raw, allow)).kind).toBe('sent');
  expect(seen[1]!.equals(seen[0]!)).toBe(true);
});

test('one recipient refused with 550: the other gets it and the refusal is kept', async () => {
  const { url, received } = await smtpServer({
    onRcptTo: (address, _session, done) =>
      done(address.address.startsWith('john') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null),
  });
  const outcome = await sendMail(url, envelope, composeMail(parts), allow);
  expect(outcome).toMatchObject({
    kind: 'sent',
    accepted: ['author@example.org'],
    rejected: [{ address: 'john@example.org' }],
  });
  expect(received[0]!.to).toEqual(['author@example.org']);
});

test('all refused for good is refused, a server that is away is later', async () => {
  const { url, server } = await smtpServer({
    onMailFrom: (_a, _s, done) => done(Object.assign(new Error('go away'), { responseCode: 554 })),
  });
  expect((await sendMail(url, envelope, composeMail(parts), allow)).kind).toBe('refused');
  await new Promise<void>((closed) => server.close(closed));
  expect((await sendMail(url, envelope, composeMail(parts), allow)).kind).toBe('later');
});

test('a relay that refuses the login is asked again: that says nothing of the recipients', async () => {
  const { url, received } = await smtpServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(Object.assign(new Error('authentication failed'), { responseCode: 535 })),
  });
  const outcome = await sendMail(url.replace('smtp://', 'smtp://bot:wrong@'), envelope, composeMail(parts), allow);
  expect(outcome).toMatchObject({ kind: 'later', response: expect.stringContaining('535') });
  expect(received).toEqual([]);
});

test('a connection lost after the message began is unknown', async () => {
  const { url } = await smtpServer({ onData: (stream) => void stream.resume() });
  // The server never answers the message, and the client's socket times out: the same as a lost connection.
  expect((await sendMail(url, envelope, composeMail(parts), allow, 500)).kind).toBe('unknown');
});

test('an envelope outside the allow-list is never sent', async () => {
  const { url, received } = await smtpServer();
  const to = ['author@example.org', 'v@x.org'];
  await expect(sendMail(url, { ...envelope, to }, composeMail(parts), allow)).rejects.toThrow('KD_MAIL_NOT_ALLOWED');
  await expect(sendMail(url, envelope, composeMail(parts), [])).rejects.toThrow('KD_MAIL_NOT_ALLOWED');
  expect(received).toEqual([]);
});
