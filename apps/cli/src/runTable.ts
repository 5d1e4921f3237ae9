import type { Matrix, Registry } from '@kdelta/matrix';
import { general } from '@kdelta/stats';
import type { Failure } from '@kdelta/store';

/** What `kdelta run` prints: per metric the mean, the deviation (n − 1) in percent of it, and the number of each boot. */
export function bootTable(
  matrix: Matrix,
  options: {
    title: string;
    /** Whose metrics are shown; with `all` the monitors' too. */
    program: string;
    metrics: Registry;
    all: boolean;
    /** Seconds of each boot beside guest start and program. */
    overheads: (number | null)[];
  },
): string {
  const { metrics, program } = options;
  const shown = [...matrix.metrics.keys()].filter((name) => options.all || name.startsWith(`${program}.`));
  shown.sort((a, b) => Number(metrics.lookup(b).kpi) - Number(metrics.lookup(a).kpi) || (a < b ? -1 : 1));
  const rows = shown.map((name) => {
    const values = matrix.metrics.get(name) ?? [];
    const numbers = values.filter((value) => value !== null);
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    const spread =
      numbers.length < 2 || mean === 0 ? '' : `±${general((100 * deviation(numbers, mean)) / Math.abs(mean), 2)}%`;
    return [
      `${metrics.lookup(name).kpi ? '*' : ' '} ${name}`,
      general(mean),
      spread,
      values.map((value) => (value === null ? '-' : general(value))).join(' '),
    ];
  });
  const head = ['  metric', 'mean', 'stddev', 'each boot'];
  const width = (column: number) => Math.max(...[head, ...rows].map((row) => row[column]!.length));
  const line = (row: string[]) =>
    `${row[0]!.padEnd(width(0))}  ${row[1]!.padStart(width(1))}  ${row[2]!.padStart(width(2))}  ${row[3]}`.trimEnd();
  const rest = matrix.metrics.size - shown.length;
  const overheads = options.overheads.map((seconds) => (seconds === null ? '-' : seconds.toFixed(1)));
  return [
    options.title,
    line(head),
    ...rows.map(line),
    rest > 0 ? `  and ${rest} metrics of monitors (--all)` : '',
    `  seconds per boot beside guest start and program: ${overheads.join(' ')}`,
    '',
  ]
    .filter((text, i, all) => text !== '' || i === all.length - 1)
    .join('\n');
}

/** Why boots failed: one line for those that failed alike, below it the excerpt of the first. '' when none did. */
export function bootFailures(boots: { id: number; failure: Failure | null }[]): string {
  const alike = new Map<string, { ids: number[]; excerpt: string }>();
  for (const { id, failure } of boots) {
    if (!failure) continue;
    const why = `${failure.message} (${failure.code})`;
    const { ids } = alike.get(why) ?? alike.set(why, { ids: [], excerpt: failure.excerpt ?? '' }).get(why)!;
    ids.push(id);
  }
  const lines = [...alike].flatMap(([why, { ids, excerpt }]) => [
    `kdelta: boot${ids.length > 1 ? 's' : ''} ${ids.join(', ')} failed: ${why}`,
    ...(excerpt ? excerpt.split('\n').map((line) => `  | ${line}`) : []),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

function deviation(values: number[], mean: number): number {
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
