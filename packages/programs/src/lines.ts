import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { ParseContext } from './parsing.ts';

/** A longer line is cut: no format here has one, a broken program may. */
export const maxLineLength = 1 << 20;
const chunkBytes = 1 << 16;

export interface Lines {
  lines: Iterable<string>;
  context: ParseContext;
}

/** Lines of a buffer or string, without their ends (`\n` or `\r\n`). */
export function linesOf(content: Buffer | string): Lines {
  return splitLines([typeof content === 'string' ? Buffer.from(content) : content]);
}

/** Lines of a file, read as they are asked for: one chunk of 64 KB and one line are held. `-` is standard input. */
export function linesOfFile(path: string): Lines {
  return splitLines(chunksOfFile(path));
}

function splitLines(chunks: Iterable<Buffer>): Lines {
  const context: ParseContext = { unterminated: false };
  return { lines: generateLines(chunks, context), context };
}

function* generateLines(chunks: Iterable<Buffer>, context: ParseContext): Generator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for (const chunk of chunks) {
    const text = decoder.write(chunk);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = rest.length < maxLineLength ? rest + text.slice(start, end) : rest;
      rest = '';
      start = end + 1;
      yield cut(line);
    }
    if (rest.length < maxLineLength) rest += text.slice(start, start + maxLineLength - rest.length);
  }
  rest += decoder.end();
  if (rest === '') return;
  context.unterminated = true;
  yield cut(rest);
}

function cut(line: string): string {
  const whole = line.length > maxLineLength ? line.slice(0, maxLineLength) : line;
  return whole.endsWith('\r') ? whole.slice(0, -1) : whole;
}

function* chunksOfFile(path: string): Generator<Buffer> {
  const fd = path === '-' ? 0 : openSync(path, 'r');
  try {
    for (;;) {
      const chunk = Buffer.alloc(chunkBytes);
      const size = readWaiting(fd, chunk);
      if (size === 0) return;
      yield chunk.subarray(0, size);
    }
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

/** A pipe on standard input may be in non-blocking mode, where a read without data fails instead of waiting. */
function readWaiting(fd: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(fd, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
