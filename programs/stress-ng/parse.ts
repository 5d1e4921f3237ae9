import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const decimal = String.raw`\d+\.\d\d`;
/** `--timestamp` puts the time of day first. */
const start = String.raw`^stress-ng: (?:\d\d:\d\d:\d\d\.\d+ )?`;
/** Rows of old versions end after the two rates; newer ones have CPU use, the newest memory too behind them. */
const row = new RegExp(
  String.raw`${start}(?:info|metrc): +\[\d+\] +(\S+) +(\d+) +${decimal} +${decimal} +${decimal} +(${decimal}) +${decimal}(?: +${decimal}(?: +\d+)?)?$`,
);
const extra = new RegExp(
  String.raw`${start}(?:info|metrc): +\[\d+\] +(\S+) +(\d+\.\d+) (\S.*?) \((?:average per stressor|\w+ mean of \d+ instances?)\)$`,
);
/** Who failed: `stress-ng-fork: …`, `fork: …`, or the first word of a message in the name of all, `stress-ng: sigaction …`. */
const failure = new RegExp(
  String.raw`${start}(?:fail|error): +\[\d+\] +(?:stress-ng: ([\w-]+) |(?!stress-ng: )(?:stress-ng-)?([\w-]+): )`,
);

/**
 * stress-ng `--metrics-brief`: per stressor `ops`, `ops_per_sec` (real time) and its own figures, each with `pass: 1`; a stressor that
 * did nothing has `fail: 1` and no rate.
 */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  const failed = new Set<string>();
  for (const line of lines) {
    const match = row.exec(line);
    if (match) addRow(out, match[1]!, Number(match[2]), match[3]!);
    const figure = extra.exec(line);
    if (figure)
      addFigure(out, `${figure[1]}.${figure[3]!.replaceAll(/[()]/g, '').trim().replaceAll(' ', '_')}`, figure[2]!);
    const who = failure.exec(line);
    const name = who?.[1] ?? who?.[2];
    if (!name || failed.has(name)) continue;
    failed.add(name);
    out.add(`${name}.fail`, 1);
  }
  return out.samples;
}

function addRow(out: Sink, name: string, ops: number, rate: string): void {
  if (ops === 0) {
    out.add(`${name}.fail`, 1);
    return;
  }
  out.add(`${name}.pass`, 1);
  out.add(`${name}.ops`, ops);
  out.add(`${name}.ops_per_sec`, rate);
}

function addFigure(out: Sink, name: string, value: string): void {
  if (Number(value) === 0) {
    out.add(`${name}.fail`, 1);
    return;
  }
  out.add(`${name}.pass`, 1);
  out.add(name, value);
}
