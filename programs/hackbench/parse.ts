import { mean, type ParseContext, roundTo, type Samples, Sink } from '@kdelta/programs/parsing';

/**
 * hackbench, one run or LKP's `Iterations: i` loop, perhaps for several `Instance: n`. Throughput is 1000 × messages per sender over the
 * time in seconds, as LKP has it. `throughput` is the best run of all, LKP's KPI; instances are different processes in different
 * cgroups, so each has metrics of its own too. An output that ends within a run has no best and no mean.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const rates: number[] = [];
  const instances = new Map<string, number[]>();
  let instance = '';
  let messages = 0;
  let open = false;
  for (const line of lines) {
    instance = /^Instance: (\d+)$/.exec(line)?.[1] ?? instance;
    messages = Number(/^Each sender will pass (\d+) messages of \d+ bytes$/.exec(line)?.[1] ?? messages);
    const seconds = Number(/^Time: (\d+\.\d{3})$/.exec(line)?.[1]);
    if (/^(Iterations: \d|Running in )/.test(line)) open = true;
    if (!(seconds > 0) || messages === 0) {
      open ||= context.unterminated;
      continue;
    }
    // A time may be whole before its line is: what the output's next line would have been isn't known then.
    open = context.unterminated;
    const rate = (messages * 1000) / seconds;
    rates.push(rate);
    if (!instances.has(instance)) instances.set(instance, []);
    instances.get(instance)!.push(rate);
  }
  if (open || rates.length === 0) return out.samples;
  addRates(out, '', rates);
  if (instances.size > 1) for (const [name, own] of instances) addRates(out, `instance-${name}.`, own);
  return out.samples;
}

function addRates(out: Sink, prefix: string, rates: number[]): void {
  const best = rates.reduce((a, b) => Math.max(a, b));
  out.add(`${prefix}throughput`, best);
  out.add(`${prefix}throughput_best`, best);
  // Of the mean time, as LKP has it: the harmonic mean of the runs.
  out.add(`${prefix}throughput_avg`, roundTo(1 / mean(rates.map((rate) => 1 / rate)), 2));
  out.add(
    `${prefix}throughput_worst`,
    rates.reduce((a, b) => Math.min(a, b)),
  );
}
