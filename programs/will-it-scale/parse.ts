import { mean, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/**
 * will-it-scale's runtest table: tasks, operations per second of as many processes and threads, idle %, and what linear scaling
 * would give. A row without any operation is a test that was aborted: it has no numbers, and certainly no 0. A failed assertion
 * of a test counts as a failure by its words.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const perProcess: number[] = [];
  const perThread: number[] = [];
  let workload = 0;
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    const assertion = /: Assertion `(.+)' failed\.$/.exec(line)?.[1];
    if (assertion) out.add(`Assertion_${assertion.replaceAll(/\s+/g, '_')}_failed`, 1);
    const cells = line.split(',');
    if (cells.length !== 6 || !cells.every((cell) => /^\d+(\.\d+)?$/.test(cell))) continue;
    const [tasks, processes, processesIdle, threads, threadsIdle, linear] = cells.map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    if (tasks === 0 || processes + threads === 0) continue;
    out.add(`${tasks}.processes`, processes);
    out.add(`${tasks}.processes_idle`, processesIdle);
    out.add(`${tasks}.threads`, threads);
    out.add(`${tasks}.threads_idle`, threadsIdle);
    out.add(`${tasks}.linear`, linear);
    perProcess.push(processes / tasks);
    perThread.push(threads / tasks);
    workload += processes + threads;
  }
  if (perProcess.length === 0) return out.samples;
  out.add('per_process_ops', Math.trunc(mean(perProcess)));
  out.add('per_thread_ops', Math.trunc(mean(perThread)));
  out.add('workload', workload);
  return out.samples;
}
