import { type ChildProcess, spawn } from 'node:child_process';

/** How one run of the command ended. */
export type RunOutcome =
  | { kind: 'ended'; status: number; stdout: string; lastLine: string }
  | { kind: 'signal'; signal: string; stdout: string; lastLine: string }
  | { kind: 'not-started'; reason: string };

export interface RunningCommand {
  child: ChildProcess;
  outcome: Promise<RunOutcome>;
}

const MOST_OUTPUT = 1 << 26;

/** Starts the command in a process group of its own, with KDELTA_COMMIT set; what it prints is collected. */
export function startCommand(command: string[], cwd: string, sha: string): RunningCommand {
  const env = { ...process.env, KDELTA_COMMIT: sha };
  const child = spawn(command[0]!, command.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const outcome = new Promise<RunOutcome>((resolve) => {
    let stdout = '';
    let stderr = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < MOST_OUTPUT) stdout += text;
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-4096);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? `no such command: ${command[0]}` : `${command[0]}: ${error.message}`;
      resolve({ kind: 'not-started', reason });
    });
    child.on('close', (status, signal) => {
      const lastLine = stderr.trimEnd().split('\n').pop() ?? '';
      if (status !== null) resolve({ kind: 'ended', status, stdout, lastLine });
      else resolve({ kind: 'signal', signal: signal ?? 'unknown', stdout, lastLine });
    });
  });
  return { child, outcome };
}

/** Name under which a bare number is kept. */
export const BARE = '';

const NAMED = /^\s*([^\s:][^:]*?)\s*:\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*$/;
const NUMBER = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*$/;

/** Metrics that a command printed: `name: number` lines, or bare numbers (kept under BARE); repeated ones are averaged. */
export function readMetrics(stdout: string): Map<string, number> {
  const found = new Map<string, number[]>();
  for (const line of stdout.split(/\r?\n/)) {
    const named = NAMED.exec(line);
    const bare = named === null ? NUMBER.exec(line) : null;
    const name = named?.[1] ?? (bare === null ? null : BARE);
    if (name === null) continue;
    const value = Number(named?.[2] ?? bare![1]);
    if (Number.isFinite(value)) found.set(name, [...(found.get(name) ?? []), value]);
  }
  const named = found.size > 1 ? [...found].filter(([name]) => name !== BARE) : [...found];
  return new Map(named.map(([name, values]) => [name, values.reduce((a, b) => a + b, 0) / values.length]));
}
