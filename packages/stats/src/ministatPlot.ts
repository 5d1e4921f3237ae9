import { type NumberSet, type SetSummary, SYMBOLS } from './ministat.ts';

/**
 * The plot over the table: one column per 1/(width − 1) of the span, points of one set stacked where they share a
 * column, sets overlaid (symbols combine as bits), and under it a bar from avg − stddev to avg + stddev with `M` at the
 * median and `A` at the average, of all sets on one line or one line each. `lastHeight`: only as many rows as the last
 * set needs, which is how the 2015 version cuts off taller ones.
 */
export function plotSets(
  sets: NumberSet[],
  summaries: SetSummary[],
  options: { width: number; separateBars: boolean; lastHeight: boolean },
): string[] {
  const { width } = options;
  const edges = summaries.flatMap((s) => [s.min, s.max, s.avg - s.stddev, s.avg + s.stddev]);
  const low = Math.min(...edges);
  const span = Math.max(...edges) - low;
  if (span === 0) return ['[no plot, span is zero width]'];
  const columnOf = (value: number) => Math.min(width - 1, Math.floor(((value - low) / span) * (width - 1) + 0.5));

  const stacks: number[][] = [];
  let tallest = 0;
  sets.forEach((set, i) => {
    const height = new Map<number, number>();
    if (options.lastHeight) tallest = 0;
    for (const value of set.values) {
      const column = columnOf(value);
      const level = height.get(column) ?? 0;
      height.set(column, level + 1);
      tallest = Math.max(tallest, level + 1);
      stacks[level] ??= new Array(width).fill(0);
      stacks[level][column]! |= i + 1;
    }
  });
  const bars = options.separateBars ? sets.map(() => blank(width)) : [blank(width)];
  summaries.forEach((summary, i) => {
    const bar = bars[options.separateBars ? i : 0]!;
    const left = columnOf(summary.avg - summary.stddev);
    const right = columnOf(summary.avg + summary.stddev);
    bar[right] = '|';
    bar[left] = '|';
    for (let column = left + 1; column < right; column++) if (bar[column] === ' ') bar[column] = '_';
    bar[columnOf(summary.median)] = 'M';
    bar[columnOf(summary.avg)] = 'A';
  });
  const border = `+${'-'.repeat(width)}+`;
  const points = stacks
    .slice(0, tallest)
    .reverse()
    .map((row) => `|${row.map((bits) => SYMBOLS[bits] ?? '?').join('')}|`);
  return [border, ...points, ...bars.map((bar) => `|${bar.join('')}|`), border];
}

function blank(width: number): string[] {
  return new Array(width).fill(' ');
}
