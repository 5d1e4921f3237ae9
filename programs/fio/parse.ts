import { at, jsonDocuments, mean, numberAt, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/**
 * fio `--output-format=json`. Bandwidth and IOPS are summed over the jobs, latencies averaged; `_slat_` is µs, `_clat_` ns (µs from
 * before fio 3), `latency_…%` the share of IOs that took less than that. `workload` counts the IOs.
 */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  for (const document of jsonDocuments(lines)) {
    const jobs = at(document, 'jobs');
    if (!Array.isArray(jobs) || jobs.length === 0) continue;
    for (const direction of ['read', 'write']) addDirection(out, jobs, direction);
    for (const unit of ['us', 'ms']) addBuckets(out, jobs, unit);
    out.add('workload', sum(jobs, 'read', 'total_ios') + sum(jobs, 'write', 'total_ios'));
  }
  return out.samples;
}

function addDirection(out: Sink, jobs: unknown[], direction: string): void {
  const nanoseconds = at(jobs[0], direction, 'clat_ns') !== undefined;
  const [clat, unit] = nanoseconds ? ['clat_ns', 'ns'] : ['clat', 'us'];
  out.add(`${direction}_bw_MBps`, sum(jobs, direction, 'bw') / 1024);
  out.add(`${direction}_iops`, sum(jobs, direction, 'iops'));
  out.add(`${direction}_clat_mean_${unit}`, average(jobs, direction, clat, 'mean'));
  out.add(`${direction}_clat_stddev`, average(jobs, direction, clat, 'stddev'));
  for (const percentile of [90, 95, 99]) {
    out.add(
      `${direction}_clat_${percentile}%_${unit}`,
      average(jobs, direction, clat, 'percentile', `${percentile}.000000`),
    );
  }
  const slat = nanoseconds ? 'slat_ns' : 'slat';
  const scale = nanoseconds ? 1000 : 1;
  out.add(`${direction}_slat_mean_us`, average(jobs, direction, slat, 'mean') / scale);
  out.add(`${direction}_slat_stddev`, average(jobs, direction, slat, 'stddev') / scale);
}

function addBuckets(out: Sink, jobs: unknown[], unit: string): void {
  const buckets = at(jobs[0], `latency_${unit}`);
  if (typeof buckets !== 'object' || buckets === null) return;
  for (const bound of Object.keys(buckets)) {
    out.add(`latency_${bound}${unit}%`, average(jobs, `latency_${unit}`, bound));
  }
}

function values(jobs: unknown[], path: string[]): number[] {
  return jobs.map((job) => numberAt(job, ...path)).filter((value) => value !== undefined);
}

function sum(jobs: unknown[], ...path: string[]): number {
  return values(jobs, path).reduce((total, value) => total + value, 0);
}

/** NaN, which is no sample, where no job has it. */
function average(jobs: unknown[], ...path: string[]): number {
  return mean(values(jobs, path));
}
