import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { linesOf } from './lines.ts';
import { type Samples, Sink } from './parsing.ts';

const maxOutputBytes = 64 << 20;
const timeoutMs = 60_000;

/**
 * Samples of an executable parser as lkp-tests has them: the raw file on standard input and as first argument, `key: number`
 * lines out, a repeated key being a time series. A status other than 0, a signal or 60 s without an end give what was printed
 * until then in whole lines.
 */
export function runForeignParser(executable: string, file: string): Promise<Samples> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, file === '-' ? [] : [file], {
      stdio: [file === '-' ? 'inherit' : 'pipe', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      timeout: timeoutMs,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout!.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) child.kill('SIGKILL');
      else chunks.push(chunk);
    });
    if (child.stdin) {
      child.stdin.on('error', () => {});
      createReadStream(file).on('error', reject).pipe(child.stdin);
    }
    child.on('error', reject);
    child.on('close', () => resolve(readKeyValues(Buffer.concat(chunks))));
  });
}

/** `key: number` lines; comments and lines that aren't are skipped. */
export function readKeyValues(output: Buffer | string): Samples {
  const out = new Sink();
  const { lines, context } = linesOf(output);
  for (const line of lines) {
    const match = /^(\S+):\s+(\S+)\s*$/.exec(line);
    if (match && !line.startsWith('#') && !context.unterminated) out.add(match[1]!, match[2]);
  }
  return out.samples;
}
