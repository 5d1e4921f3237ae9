import { mean, type ParseContext, roundTo, type Samples, Sink } from './parsing.ts';

const operation = /^ (\w+)\s+(\d+)\s+(\d+\.\d{3})\s+(\d+\.\d{3})$/;
const throughput =
  /^Throughput (\d+(?:\.\d+)?(?:e\+\d+)?) MB\/sec\s.*?\b(\d+) clients\s+(\d+) procs\s+max_latency=(\d+\.\d{3}) ms$/;

/**
 * dbench 4 and tbench: the tables of operations (one sample per run) and, of the last lines, the mean over all runs, its harmonic
 * sibling and the mean of the longest latencies in ms, these with two decimals as LKP has them. An output that ends within a run
 * has no means.
 */
export function parseDbench(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const rates: number[] = [];
  const latencies: number[] = [];
  let open = false;
  for (const line of lines) {
    const row = operation.exec(line);
    if (row) {
      out.add(`${row[1]}.count`, row[2]);
      out.add(`${row[1]}.avg_lat`, row[3]);
      out.add(`${row[1]}.max_lat`, row[4]);
    }
    const last = throughput.exec(line);
    if (line.startsWith('Running for ') || (context.unterminated && !last)) open = true;
    if (!last) continue;
    open = false;
    rates.push(Number(last[1]));
    latencies.push(Number(last[4]));
    if (rates.length > 1) continue;
    out.add('clients', last[2]);
    out.add('procs', last[3]);
  }
  if (open || rates.length === 0) return out.samples;
  out.add('throughput_MB/s', mean(rates));
  out.add('throughput_MB/s_harmonic_mean', roundTo(harmonicMean(rates), 2));
  out.add('max_latency', roundTo(mean(latencies), 2));
  out.add('max_latency_harmonic_mean', roundTo(harmonicMean(latencies), 2));
  return out.samples;
}

function harmonicMean(values: number[]): number {
  if (values.length === 1) return values[0]!;
  return values.length / values.reduce((sum, value) => sum + 1 / value, 0);
}
