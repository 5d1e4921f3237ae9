import { mean, median, type ParseContext, populationStddev, type Samples, Sink } from '@kdelta/programs/parsing';

const span = /^(\d+) bytes \w+ in (\d+\.\d{9})-(\d+\.\d{9}) seconds$/;
const rate = /^(\d+) bytes \/ (\d+) usecs = \d+ KB\/s$/;

/**
 * vm-scalability: the KB/s of each task, in iterations that begin with `./case-…`. `throughput` is the mean over the iterations of
 * the sum over their tasks, `median` that of their median task; both with their stddev in %. `workload` is KB. An output whose last
 * iteration has no result has none of these.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const iterations: number[][] = [];
  let tasks: number[] = [];
  let kilobytes = 0;
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    if (/ \.\/case-\S+/.test(line)) {
      tasks = [];
      iterations.push(tasks);
    }
    const task = readTask(line);
    if (!task) continue;
    if (iterations.length === 0) iterations.push(tasks);
    tasks.push(task.bytes / 1024 / task.seconds);
    kilobytes += task.bytes / 1024;
  }
  if (iterations.length === 0 || tasks.length === 0) return out.samples;
  const measured = iterations.filter((iteration) => iteration.length > 0);
  const sums = measured.map((iteration) => iteration.reduce((sum, value) => sum + value, 0));
  const medians = measured.map(median);
  // With one iteration the tasks' spread is all there is.
  out.add('throughput', Math.trunc(mean(sums)));
  out.add('stddev%', relativeStddev(sums.length > 1 ? sums : tasks));
  out.add('median', Math.trunc(mean(medians)));
  out.add('median_stddev%', relativeStddev(medians.length > 1 ? medians : tasks));
  out.add('workload', kilobytes);
  return out.samples;
}

function readTask(line: string): { bytes: number; seconds: number } | undefined {
  const stamps = span.exec(line);
  if (stamps) {
    // Doubles hold such a stamp to 0.2 µs only: LKP subtracts them so, and its numbers are the ones to compare with.
    const seconds = Math.abs(Number(stamps[3]) - Number(stamps[2]));
    return seconds > 0 ? { bytes: Number(stamps[1]), seconds } : undefined;
  }
  const direct = rate.exec(line);
  if (!direct || Number(direct[2]) === 0) return undefined;
  return { bytes: Number(direct[1]), seconds: Number(direct[2]) / 1e6 };
}

function relativeStddev(values: number[]): number {
  return Number(((100 * populationStddev(values)) / mean(values)).toPrecision(6));
}
