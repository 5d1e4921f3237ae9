import { execFile } from 'node:child_process';

/** Runs a program without a shell and returns what it printed; throws with its last line when it fails. */
export async function run(program: string, args: string[], options: { signal?: AbortSignal }): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(program, args, { signal: options.signal, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program}: ${stderr.trim().split('\n').pop() || error.message}`));
      else resolve(stdout);
    });
  });
}
