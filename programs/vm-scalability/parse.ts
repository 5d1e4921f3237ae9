import { mean, median, type ParseContext, populationStddev, type Samples, Sink } from '@kdelta/programs/parsing';

const span = /^(\d+) bytes \w+ in (\d+\.\d{9})-(\d+\.\d{9}) seconds$/;
const rate = /^(\d+) bytes \/ \d+ usecs = (\d+) KB\/s$/;
const freed = /^(\d+) usecs to free memory$/;

/**
 * vm-scalability: the KB/s of each task, in iterations that begin with `./case-…`. `throughput` is the mean over the iterations of
 * the sum over their tasks, `median` that of their median task; both with their stddev in %. `workload` is KB, `free_time` the mean
 * time in s to give the memory back, where it is printed. An output whose last iteration has no result has none of these.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const iterations: number[][] = [];
  let tasks: number[] = [];
  let kilobytes = 0;
  const frees: number[] = [];
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    if (/ \.\/case-\S+/.test(line)) {
      tasks = [];
      iterations.push(tasks);
    }
    const free = freed.exec(line);
    if (free) frees.push(Number(free[1]) / 1e6);
    const task = readTask(line);
    if (!task) continue;
    if (iterations.length === 0) iterations.push(tasks);
    tasks.push(task.rate);
    kilobytes += task.bytes / 1024;
  }
  if (iterations.length === 0 || tasks.length === 0) return out.samples;
  const measured = iterations.filter((iteration) => iteration.length > 0);
  const sums = measured.map((iteration) => iteration.reduce((sum, value) => sum + value, 0));
  const medians = measured.map(median);
  // With one iteration the tasks' spread is all there is.
  out.add('throughput', Math.trunc(mean(sums)));
  out.add('stddev%', relativeStddev(sums.length > 1 ? sums : tasks));
  out.add('median', Math.round(mean(medians)));
  out.add('median_stddev%', relativeStddev(medians.length > 1 ? medians : tasks));
  out.add('workload', kilobytes);
  if (frees.length > 0) out.add('free_time', Number(mean(frees).toPrecision(6)));
  return out.samples;
}

/** KB/s of a task: between its stamps, or as it printed it. */
function readTask(line: string): { bytes: number; rate: number } | undefined {
  const stamps = span.exec(line);
  if (stamps) {
    // Doubles hold such a stamp to 0.2 µs only: LKP subtracts them so, and its numbers are the ones to compare with.
    const seconds = Math.abs(Number(stamps[3]) - Number(stamps[2]));
    const bytes = Number(stamps[1]);
    return seconds > 0 ? { bytes, rate: bytes / 1024 / seconds } : undefined;
  }
  const direct = rate.exec(line);
  return direct ? { bytes: Number(direct[1]), rate: Number(direct[2]) } : undefined;
}

function relativeStddev(values: number[]): number {
  return Number(((100 * populationStddev(values)) / mean(values)).toPrecision(6));
}
