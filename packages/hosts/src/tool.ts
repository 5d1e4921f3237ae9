import { execFile } from 'node:child_process';
import { BootError } from './errors.ts';

/**
 * Runs a program of this machine; returns its stdout. Throws BootError KD_HOST_SETUP when it is missing or fails, with the
 * end of what it said.
 */
export async function runTool(
  program: string,
  args: string[],
  options: { cwd?: string; signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      {
        cwd: options.cwd,
        signal: options.signal,
        timeout: options.timeoutMs ?? 120_000,
        maxBuffer: 64 * 2 ** 20,
        env: { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
      },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const code = (error as { code?: unknown }).code;
        if (code === 'ABORT_ERR') reject(new BootError('KD_BOOT_STOPPED', 'infra', `stopped while ${program} ran`));
        else if (code === 'ENOENT')
          reject(
            new BootError('KD_HOST_SETUP', 'infra', `${program} is not installed on this machine; install it with apt`),
          );
        else {
          const said = stderr.trim().split('\n').slice(-3).join(' ').slice(0, 500);
          reject(
            new BootError('KD_HOST_SETUP', 'infra', `${program} failed (${String(code ?? error.signal)}): ${said}`),
          );
        }
      },
    );
  });
}
