import { writeFileSync } from 'node:fs';
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

/**
 * `kdelta histogram pft|pgfault-latency [FILE]`: the page-fault histogram in a raw output (standard input without FILE).
 * Exit status: 0 done, 2 no histogram in it, or bounds that its buckets can't give.
 */
export function histogramCommand(): Command {
  return new Command('histogram')
    .description('print how long page faults took, by bounds')
    .argument('<program>', 'pft, pgfault-latency, or another with latency_<600ns samples')
    .argument('[file]', 'raw output; standard input without it')
    .option('--bounds <list>', 'fewer bounds in ns, of those there are: 1200,4800')
    .option('--cgroup <id>', 'pgfault-latency by bpftrace: the counts of one cgroup')
    .option('--bars <file>', 'draw it as bars, an SVG file')
    .option('--heat-map <file>', 'draw it over time, an SVG file')
    .option('--json', 'print {"bounds", "times", "counts"}')
    .action(async (name: string, file: string | undefined, options: Options) => {
      try {
        const meta = findProgram(await loadPrograms(programRoots(process.env)), name);
        const { samples } = await parseOutput(meta, file ?? '-', { cacheDir: cacheDir(process.env) });
        const found = histogramIn(samples, name, meta.type === 'monitor', options.cgroup);
        const histogram = options.bounds === undefined ? found : recut(found, readBounds(options.bounds));
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
  const ids = Object.keys(samples).map((metric) => /\.cgroup-(\d+)\./.exec(metric)?.[1]);
  const known = [...new Set(ids.filter((id) => id !== undefined))];
  throw new RangeError(`no histogram of cgroup ${cgroup}; there are: ${known.join(', ') || 'none'}`);
}

function readBounds(text: string): number[] {
  const bounds = text.split(',').map((word) => (/^[1-9]\d*$/.test(word) ? Number(word) : Number.NaN));
  if (bounds.some(Number.isNaN))
    throw new RangeError(`--bounds ${text}: expected numbers of ns with commas between them`);
  return bounds;
}
