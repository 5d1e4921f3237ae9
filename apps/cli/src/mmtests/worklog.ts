import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type MmtestsRun, type Operation, parsePftLogs, parseTestsTimestamp } from '@kdelta/matrix';

/** A work log that can't be read: which file, and what was looked for. */
export class WorklogError extends Error {
  readonly code = 'KD_WORKLOG';
}

/** Benchmarks whose raw logs are read: name → logs' texts to operations. */
const READERS: Record<string, (texts: string[]) => Operation[]> = { pft: parsePftLogs };

/** One iteration (`iter-N`, or the only one of the 0.05 layout) of one named run. */
export interface Iteration {
  name: string;
  run: MmtestsRun;
  /** Monitor → its file, plain or `.gz`. */
  monitors: Record<string, string>;
}

/** The runs of a work log (`work/log`), in either layout, sorted by name. */
export function listRuns(worklog: string, benchmark: string): string[] {
  const names = new Set<string>();
  for (const entry of folder(worklog)) {
    const old = entry.startsWith(`${benchmark}-`) ? entry.slice(benchmark.length + 1) : null;
    if (old && existsSync(join(worklog, entry, 'noprofile'))) names.add(old);
    if (folder(join(worklog, entry), true).some((name) => /^iter-\d+$/.test(name))) names.add(entry);
  }
  return [...names].sort();
}

/**
 * Reads one named run: `BENCH-RUN/noprofile/base/*.log` with `tests-timestamp-RUN` (0.05), or `RUN/iter-N/BENCH/logs/*`
 * with `RUN/iter-N/tests-{timestamp,sysstate.gz}` (today's). Throws WorklogError where neither is there.
 */
export function readRun(worklog: string, benchmark: string, name: string): Iteration[] {
  const reader = READERS[benchmark];
  if (!reader)
    throw new WorklogError(`no reader for MMTests' ${benchmark}; there is one for: ${Object.keys(READERS).join(', ')}`);
  const old = join(worklog, `${benchmark}-${name}`, 'noprofile', 'base');
  if (existsSync(old)) {
    const stamps = join(worklog, `tests-timestamp-${name}`);
    const run = iteration(name, benchmark, reader, old, existsSync(stamps) ? [stamps] : []);
    return [{ name, run, monitors: monitorFiles(worklog, `-${name}-${benchmark}`) }];
  }
  const iterations = folder(join(worklog, name), true)
    .filter((entry) => /^iter-\d+$/.test(entry))
    .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)));
  if (iterations.length === 0) {
    const known = listRuns(worklog, benchmark);
    throw new WorklogError(
      `${worklog}: no run ${name} of ${benchmark}${known.length > 0 ? `; there are: ${known.join(', ')}` : ''}`,
    );
  }
  return iterations.map((entry) => {
    const dir = join(worklog, name, entry);
    const states = ['tests-timestamp', 'tests-sysstate', 'tests-sysstate.gz'].map((file) => join(dir, file));
    return {
      name: `${name}/${entry}`,
      monitors: monitorFiles(dir, `-${benchmark}`),
      run: iteration(
        name,
        benchmark,
        reader,
        join(dir, benchmark, 'logs'),
        states.filter((file) => existsSync(file)),
      ),
    };
  });
}

/** All iterations of a run as one: samples in order, times of the first. */
export function joinIterations(iterations: Iteration[]): MmtestsRun {
  const [first, ...rest] = iterations.map((i) => i.run);
  const operations = first!.operations.map((operation) => ({
    ...operation,
    samples: [
      ...operation.samples,
      ...rest.flatMap(
        (run) => run.operations.find((o) => o.metric === operation.metric && o.op === operation.op)?.samples ?? [],
      ),
    ],
  }));
  return { ...first!, operations };
}

function iteration(
  name: string,
  benchmark: string,
  reader: (texts: string[]) => Operation[],
  logs: string,
  states: string[],
): MmtestsRun {
  const files = folder(logs).filter((file) => statSync(join(logs, file)).isFile());
  const operations = reader(files.map((file) => text(join(logs, file))));
  if (operations.length === 0) throw new WorklogError(`${logs}: no ${benchmark} result in ${files.length} files`);
  return { name, benchmark, operations, ...parseTestsTimestamp(states.map(text).join('\n'), benchmark) };
}

/** Files `MONITOR-RUN-BENCH[.gz]` (0.05) or `MONITOR-BENCH[.gz]` of a folder. */
function monitorFiles(dir: string, end: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const file of folder(dir)) {
    const plain = file.replace(/\.gz$/, '');
    if (plain.endsWith(end) && plain.length > end.length && statSync(join(dir, file)).isFile())
      found[plain.slice(0, -end.length)] = join(dir, file);
  }
  return found;
}

function text(file: string): string {
  const bytes = readFileSync(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: 256 << 20 }) : bytes).toString('utf8');
}

function folder(dir: string, optional = false): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (error) {
    if (optional) return [];
    throw new WorklogError(
      `${dir}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such folder' : 'not a folder'}`,
    );
  }
}
