import { type Logger, pino } from 'pino';

/** Exit status of every subcommand: 0 done, 1 a negative answer, 2 usage or bad input, 3 could not be done. */
export type ExitStatus = 0 | 1 | 2 | 3;

/**
 * Runs a subcommand: its signal fires on SIGINT and SIGTERM (a second one ends at once), and an error becomes one line on
 * stderr and an exit status: what `exitStatus` says, else 3.
 */
export async function outcome(work: (signal: AbortSignal) => Promise<ExitStatus | undefined>): Promise<void> {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(3);
    process.stderr.write(`kdelta: ${name}: stopping; once more to end at once\n`);
    stop.abort(new Error('interrupted'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    process.exitCode = (await work(stop.signal)) ?? (stop.signal.aborted ? 3 : 0);
  } catch (error) {
    const { exitStatus, message } = error as Error & { exitStatus?: number };
    process.stderr.write(`kdelta: ${stop.signal.aborted ? 'interrupted' : message}\n`);
    if (exitStatus === undefined && !stop.signal.aborted && process.env.KDELTA_DEBUG) console.error(error);
    process.exitCode = exitStatus ?? 3;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    // Everything is closed: a socket that someone forgot must not keep the program up.
    setTimeout(() => process.exit(), 3_000).unref();
  }
}

/** Log lines go to stderr: stdout is for what was asked. */
export function openLog(level: string): Logger {
  return pino({ name: 'kdelta', level: process.env.KDELTA_LOG ?? level }, pino.destination({ dest: 2, sync: true }));
}
