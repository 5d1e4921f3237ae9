/** What a program's parse.ts may use. Everything here is free of I/O. */
export { parseDbench } from './dbenchFormat.ts';
export { at, braces, jsonDocuments, numberAt, parseJson } from './jsonDocuments.ts';
export { LineStamps } from './lineStamps.ts';

/** Metric name without the program's prefix → its numbers, in the order in which they were printed. */
export type Samples = Record<string, number[]>;

export interface ParseContext {
  /** True while the last line is read and it had no line end: it may have lost its tail. */
  unterminated: boolean;
}

export type Parse = (lines: Iterable<string>, context: ParseContext) => Samples;

/** Numbers one output may give: 2 million, 16 MB of float64. */
export const maxSamples = 2_000_000;

const validName = /^[\x21-\x7e\u00a1-\uffff]{1,200}$/;
const validNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Output gave more numbers than a boot can have: a runaway program, class `test`. */
export class OutputTooLargeError extends Error {
  readonly code = 'KD_OUTPUT_TOO_LARGE';
  constructor() {
    super(`the output gives more than ${maxSamples} numbers: shorten the run or lengthen the monitor's interval`);
  }
}

/** The number that `text` spells in C's locale, or undefined: `''`, `1,5`, `nan`, `0x10` and `-` are none. */
export function readNumber(text: string | undefined): number | undefined {
  if (text === undefined || !validNumber.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Blank-separated fields of a line. */
export function fields(line: string): string[] {
  const text = line.trim();
  return text === '' ? [] : text.split(/\s+/);
}

/** Collects samples; a name or a number that isn't one is dropped. Throws KD_OUTPUT_TOO_LARGE. */
export class Sink {
  readonly samples: Samples = Object.create(null);
  #count = 0;

  add(name: string, value: number | string | undefined): void {
    const number = typeof value === 'number' ? value : readNumber(value);
    if (number === undefined || !Number.isFinite(number) || !validName.test(name)) return;
    this.#count += 1;
    if (this.#count > maxSamples) throw new OutputTooLargeError();
    const row = this.samples[name];
    if (row) row.push(number);
    else this.samples[name] = [number];
  }

  /** How many numbers `name` has so far. */
  count(name: string): number {
    return this.samples[name]?.length ?? 0;
  }
}

/** Arithmetic mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Standard deviation over n (not n − 1), as lkp-tests' parsers print it; NaN of nothing. */
export function populationStddev(values: readonly number[]): number {
  const average = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - average) ** 2)));
}

/** Middle value, the mean of both middle ones for an even number; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Rounds half up at `digits` decimals, as the decimal spelling reads (1.005 → 1.01). */
export function roundTo(value: number, digits: number): number {
  const scaled = Number(`${value}e${digits}`);
  // A value whose spelling has an exponent already is out of the range in which decimals matter.
  return Number.isFinite(scaled) ? Number(`${Math.round(scaled)}e-${digits}`) : value;
}

/**
 * Tables of the kernel with a `CPU0 CPU1 …` header and a `NAME: number…` row per line (/proc/interrupts, /proc/softirqs): adds each
 * row's sum over the CPUs under its name, and the `time:` lines between the tables.
 */
export function sumOverCpus(lines: Iterable<string>, context: ParseContext, out: Sink): void {
  let cpus = 0;
  for (const line of lines) {
    if (context.unterminated) return;
    const time = /^time: (\S+)$/.exec(line);
    if (time) {
      out.add('time', time[1]);
      continue;
    }
    if (/^\s*CPU\d+/.test(line)) {
      cpus = fields(line).length;
      continue;
    }
    const [label, ...rest] = fields(line);
    if (!label?.endsWith(':')) continue;
    const numbers: number[] = [];
    for (const field of rest.slice(0, cpus)) {
      if (!/^\d+$/.test(field)) break;
      numbers.push(Number(field));
    }
    // ERR and MIS have one number whatever the CPUs; any other row that is short has lost its middle.
    if (numbers.length === cpus || numbers.length === rest.length) {
      if (numbers.length > 0)
        out.add(
          label.slice(0, -1),
          numbers.reduce((sum, value) => sum + value, 0),
        );
    }
  }
}

/** The parse of output whose only figure stands in lines `NAME: N`, N whole. */
export function parseLabelled(name: string): Parse {
  return (lines, context) => {
    const out = new Sink();
    for (const line of lines) {
      const [label, number] = line.split(': ', 2);
      if (label === name && /^\d+$/.test(number ?? '') && !context.unterminated) out.add(name, number);
    }
    return out.samples;
  };
}
