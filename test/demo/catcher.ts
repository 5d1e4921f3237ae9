import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

export interface CaughtMail {
  /** Envelope recipients. */
  to: string[];
  raw: string;
  mail: ParsedMail;
}

export interface Catcher {
  url: string;
  mails: CaughtMail[];
  close(): Promise<void>;
}

/** An SMTP server on a free port of this machine that delivers nothing and keeps all. */
export async function catchMail(): Promise<Catcher> {
  const mails: CaughtMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        simpleParser(raw)
          .then((mail) => {
            mails.push({ to: session.envelope.rcptTo.map((r) => r.address), raw: raw.toString('utf8'), mail });
            done();
          })
          .catch(done);
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.server.address() as { port: number };
  return { url: `smtp://127.0.0.1:${port}`, mails, close: () => new Promise<void>((done) => server.close(done)) };
}
