import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import type { ArtifactStore } from '@kdelta/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from './problems.ts';

interface Sent {
  type: string;
  etag: string;
  /** Offered as a file of this name when set. */
  filename?: string;
  cache?: string;
}

/** Reads `bytes=a-b`, `a-`, `-n` (RFC 9110 §14.1.2); null: send all (also for several ranges, which may be ignored). */
export function parseRange(header: string | undefined, size: number): { start: number; end: number } | 'bad' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (!match || (!match[1] && !match[2])) return null;
  const start = match[1] ? Number(match[1]) : Math.max(0, size - Number(match[2]));
  const end = match[1] && match[2] ? Math.min(Number(match[2]), size - 1) : size - 1;
  return start >= size || start > end ? 'bad' : { start, end };
}

/** Headers of a download; true when the answer is complete (304). */
function prepare(request: FastifyRequest, reply: FastifyReply, sent: Sent): boolean {
  reply
    .header('etag', sent.etag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', sent.cache ?? 'no-cache')
    .type(sent.type);
  if (sent.filename)
    reply.header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(sent.filename)}`);
  const known = request.headers['if-none-match'];
  if (known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === sent.etag.replace(/^W\//, ''))) {
    reply.code(304).send();
    return true;
  }
  return false;
}

function rangeOf(request: FastifyRequest, size: number, etag: string) {
  const ifRange = request.headers['if-range'];
  if (ifRange !== undefined && ifRange !== etag) return null;
  return parseRange(request.headers.range, size);
}

const unsatisfiable = (size: number) =>
  new ProblemError(416, 'KD_RANGE', `The file has ${size} bytes; the range begins after them.`, {
    'content-range': `bytes */${size}`,
  });

/** Sends text or bytes made for this request, with ETag, 304 and single ranges. Ranges are of the uncompressed bytes. */
export function sendBytes(request: FastifyRequest, reply: FastifyReply, body: Buffer, sent: Omit<Sent, 'etag'>) {
  const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
  if (prepare(request, reply, { ...sent, etag })) return reply;
  const range = rangeOf(request, body.length, etag);
  if (range === 'bad') throw unsatisfiable(body.length);
  if (!range) return reply.send(body);
  reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${body.length}`);
  return reply.header('x-no-compression', '1').send(body.subarray(range.start, range.end + 1));
}

/** Sends a stored file (it never changes: its hash names it), with ETag, 304, single ranges, and gzip as it lies there. */
export async function sendArtifact(
  artifacts: ArtifactStore,
  request: FastifyRequest,
  reply: FastifyReply,
  file: { sha256: string; bytes: number },
  sent: Omit<Sent, 'etag'>,
) {
  if (!(await artifacts.has(file.sha256)))
    throw new ProblemError(
      404,
      'KD_ARTIFACT_MISSING',
      'This file is known, but the artifact store does not have it (any more).',
    );
  const etag = `"${file.sha256}"`;
  if (prepare(request, reply, { ...sent, etag, cache: 'private, max-age=31536000, immutable' })) return reply;
  const range = rangeOf(request, file.bytes, etag);
  if (range === 'bad') throw unsatisfiable(file.bytes);
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.bytes}`);
    reply.header('x-no-compression', '1').header('content-length', range.end - range.start + 1);
    return reply.send(slice(await artifacts.stream(file.sha256), range.start, range.end));
  }
  const gzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') && !/gzip|tar\+|zstd/.test(sent.type);
  reply.header('x-no-compression', '1').header('vary', 'accept-encoding');
  if (gzip) reply.header('content-encoding', 'gzip');
  else reply.header('content-length', file.bytes);
  return reply.send(await artifacts.stream(file.sha256, gzip ? 'gzip' : 'plain'));
}

/** The bytes start…end of a stream; it is ended after them. */
function slice(source: Readable, start: number, end: number): Readable {
  let at = 0;
  const cut = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const from = Math.max(0, start - at);
      const to = Math.min(chunk.length, end + 1 - at);
      at += chunk.length;
      if (to > from) this.push(chunk.subarray(from, to));
      if (at > end) {
        source.destroy();
        this.push(null);
      }
      done();
    },
  });
  source.on('error', (error) => cut.destroy(error));
  return source.pipe(cut);
}
