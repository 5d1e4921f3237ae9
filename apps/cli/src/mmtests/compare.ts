import type { Direction, Matrix, MmtestsRun, Operation, Registry } from '@kdelta/matrix';
import { gain, type MmtestsLayout, reclaimFigures, renderDuration, renderMmtests, renderVmstat } from '@kdelta/report';
import { joinIterations, readRun } from './worklog.ts';

export interface MmtestsOptions {
  directory?: string;
  benchmark?: string;
  runs?: string;
  layout?: string;
  apart?: boolean;
  printRatio?: boolean;
  printMonitor?: string;
}

/** Runs of a work log by name, as compare-mmtests took them: `-d work/log -b pft -n run-1,run-2`. */
export function worklogRuns(options: MmtestsOptions): MmtestsRun[] {
  const names = (options.runs ?? '').split(',').filter((name) => name !== '');
  return names.map((name) => joinIterations(readRun(options.directory!, options.benchmark ?? 'pft', name)));
}

/**
 * A matrix in MMTests' terms: `program.METRIC-OP`, a sample per boot, an operation per metric that ends in a dash and a
 * number (`pft.Faults/cpu-4`); other names are operations of their own. Directions are the registry's, then MMTests' own words.
 */
export function matrixRun(name: string, matrix: Matrix, registry: Registry): MmtestsRun {
  const operations: Operation[] = [];
  for (const [metric, values] of matrix.metrics) {
    const match = /^(?:([^.]+)\.)?(.+?)(?:-(\d+))?$/.exec(metric)!;
    if (match[2]!.endsWith('.stddev') || match[1] === 'proc-vmstat') continue;
    operations.push({
      metric: match[2]!,
      op: match[3] ?? '',
      samples: values.filter((value) => value !== null),
      better: registry.lookup(metric).better ?? directionOf(match[2]!),
    });
  }
  return { name, benchmark: '', operations };
}

/** What `kdelta compare --style mmtests` prints. Throws RangeError naming what can be asked for. */
export function printMmtests(runs: MmtestsRun[], options: MmtestsOptions): string {
  const monitors: Record<string, (runs: MmtestsRun[]) => string> = { duration: renderDuration, vmstat: renderVmstat };
  if (options.printMonitor !== undefined) {
    const print = monitors[options.printMonitor];
    if (!print)
      throw new RangeError(`--print-monitor ${options.printMonitor}: there are ${Object.keys(monitors).join(', ')}`);
    return print(runs);
  }
  const layout = options.layout ?? '0.05';
  if (layout !== '0.05' && layout !== 'head') throw new RangeError(`--layout ${layout}: there are 0.05, head`);
  return renderMmtests(runs, { layout: layout as MmtestsLayout, exact: !options.apart, ratio: options.printRatio });
}

/** The same as numbers: each run's means with their gain over the first run in percent, its times, and what reclaim did. */
export function mmtestsJson(runs: MmtestsRun[]): unknown {
  const mean = (samples: number[]) => samples.reduce((a, b) => a + b, 0) / samples.length;
  return {
    runs: runs.map((run) => ({
      name: run.name,
      operations: run.operations
        .filter((operation) => operation.samples.length > 0)
        .map(({ metric, op, samples, better }) => {
          const base = runs[0]!.operations.find((other) => other.metric === metric && other.op === op)?.samples ?? [];
          const value = mean(samples);
          return {
            metric,
            op,
            better,
            n: samples.length,
            mean: value,
            gain: base.length > 0 ? gain(mean(base), value, better) : null,
          };
        }),
      duration: run.duration ?? null,
      reclaim: reclaimFigures(run),
    })),
  };
}

/** Rates are higher-better, times lower-better: MMTests' names say which. */
function directionOf(metric: string): Direction {
  return /\/(sec|cpu|s)$|ops|[Tt]put|throughput|Hmean|MB/.test(metric) ? 'higher' : 'lower';
}
