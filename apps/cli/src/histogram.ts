import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDir } from '@kdelta/home';
import { findProgram, loadPrograms, parseOutput, programRoots, type Samples } from '@kdelta/programs';
import {
  type FaultHistogram,
  faultBars,
  faultHeatMap,
  faultHistogramOf,
  faultHistogramText,
  recut,
} from '@kdelta/report';
import { Command } from 'commander';

interface Options {
  bounds?: string;
  cgroup?: string;
  bars?: string;
  heatMap?: string;
  json?: boolean;
}

/** Bytes of raw output that are read as a whole to cut them anew. */
const RAW_LIMIT = 256 << 20;

/**
 * `kdelta histogram pft|pgfault-latency [FILE]`: the page-fault histogram in a raw output (standard input without FILE).
 * Exit status: 0 done, 2 no histogram in it, or bounds that its buckets can't give.
 */
export function histogramCommand(): Command {
  return new Command('histogram')
    .description('print how long page faults took, by bounds')
    .argument('<program>', 'pft, pgfault-latency, or another with latency_<600ns samples')
    .argument('[file]', 'raw output; standard input without it')
    .option('--bounds <list>', 'other bounds in ns: of those there are, or of ftrace’s finer buckets: 1200,4800')
    .option('--cgroup <path>', 'pgfault-latency by bpftrace: the counts of one cgroup: /kdelta-mapanon/1')
    .option('--bars <file>', 'draw it as bars, an SVG file')
    .option('--heat-map <file>', 'draw it over time, an SVG file')
    .option('--json', 'print {"bounds", "times", "counts"}')
    .action(async (name: string, file: string | undefined, options: Options) => {
      try {
        const meta = findProgram(await loadPrograms(programRoots(process.env)), name);
        const bounds = options.bounds === undefined ? undefined : readBounds(options.bounds);
        const read = async (path: string) => {
          const { samples } = await parseOutput(meta, path, { cacheDir: cacheDir(process.env) });
          return histogramIn(samples, name, meta.type === 'monitor', options.cgroup);
        };
        const finer =
          bounds && file && statSync(file).size <= RAW_LIMIT ? withBounds(readFileSync(file, 'utf8'), bounds) : null;
        const found = finer === null ? await read(file ?? '-') : await readText(finer, read);
        const histogram = bounds === undefined ? found : recut(found, bounds);
        if (options.bars) writeFileSync(options.bars, faultBars(histogram, `${name}: page faults by time`));
        if (options.heatMap) writeFileSync(options.heatMap, faultHeatMap(histogram, `${name}: page faults over time`));
        process.stdout.write(options.json ? `${JSON.stringify(histogram)}\n` : faultHistogramText(histogram));
      } catch (error) {
        const { code, path, message } = error as NodeJS.ErrnoException;
        process.stderr.write(`kdelta: ${code === 'ENOENT' ? `${path}: no such file` : message}\n`);
        process.exitCode = 2;
      }
    });
}

/** A monitor counts on over the run; a benchmark prints a histogram per iteration. Throws when there is none. */
export function histogramIn(samples: Samples, name: string, cumulative: boolean, cgroup?: string): FaultHistogram {
  const prefix = cgroup === undefined ? `${name}.` : `${name}.cgroup-${cgroup}.`;
  const found = faultHistogramOf(samples, { prefix, cumulative, times: samples[`${name}.time`] });
  if (found) return found;
  if (cgroup === undefined) throw new RangeError(`no latency histogram in this output of ${name}`);
  const ids = Object.keys(samples).map((metric) => /\.cgroup-(.+)\.latency_</.exec(metric)?.[1]);
  const known = [...new Set(ids.filter((id) => id !== undefined))];
  throw new RangeError(`no histogram of cgroup ${cgroup}; there are: ${known.join(', ') || 'none'}`);
}

/**
 * pgfault-latency's output of ftrace as if it had been made with these bounds, which its buckets give when all are multiples of their
 * width; null when it isn't one, or they aren't.
 */
export function withBounds(raw: string, bounds: number[]): string | null {
  const width = Number(/^# trigger info: hist:keys=lat\.buckets=(\d+):/m.exec(raw)?.[1]);
  if (!(width > 0) || bounds.some((bound) => bound % width !== 0)) return null;
  return raw.replace(/^# bounds: [\d,]+$/m, `# bounds: ${bounds.join(',')}`);
}

async function readText<T>(text: string, read: (path: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'kdelta-histogram-'));
  try {
    writeFileSync(join(dir, 'raw'), text);
    return await read(join(dir, 'raw'));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function readBounds(text: string): number[] {
  const bounds = text.split(',').map((word) => (/^[1-9]\d*$/.test(word) ? Number(word) : Number.NaN));
  if (bounds.some(Number.isNaN))
    throw new RangeError(`--bounds ${text}: expected numbers of ns with commas between them`);
  return bounds;
}
