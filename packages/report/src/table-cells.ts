import { type Delta, fixed, general, type Side } from '@kdelta/stats';

/** 10 wide: two decimals below 1000, four digits above 1e8, else the truncated integer; blank where there is none. */
export function averageCell(mean: number | null): string {
  if (mean === null) return ' '.repeat(10);
  const size = Math.abs(mean);
  const text = size < 1000 ? fixed(mean, 2) : size > 1e8 ? general(mean, 4) : String(Math.trunc(mean));
  return text.padStart(10);
}

/** 6 wide: ` ± 7%`, of n − 1; always printed where two boots or more tell it (ncompare hides up to 2 %). */
export function stddevCell(side: Side): string {
  if (side.stddev === null || side.mean === null || side.mean === 0) return ' '.repeat(6);
  const percent = Math.round((100 * side.stddev) / Math.abs(side.mean));
  return percent > 999 ? ' ±999%' : ` ±${String(percent).padStart(3)}%`;
}

/** 11 wide: percent with its sign, or the absolute difference (no `%`) for a metric that is a percentage. */
export function changeCell(delta: Delta): string {
  if (delta.changeAbs === null) return (delta.base.n === 0 ? 'new' : 'gone').padStart(10).padEnd(11);
  if (delta.percent) return signed(delta.changeAbs).padStart(10).padEnd(11);
  if (delta.changePct === null) return 'new'.padStart(10).padEnd(11);
  const text = Math.abs(delta.changePct) >= 100_000 ? general(delta.changePct, 2) : fixed(delta.changePct, 1);
  return `${delta.changePct >= 0 ? '+' : ''}${text}%`.padStart(11);
}

/** 16 wide: `fails:runs`, zero fails blank. */
export function failCell(side: Side): string {
  const fails = side.fails ?? 0;
  return `${(fails === 0 ? '' : String(fails)).padStart(11)}:${String(side.n).padEnd(4)}`;
}

/** 11 wide: the difference of the two reproduction rates. */
export function reproductionCell(delta: Delta): string {
  return `${fixed(delta.changeAbs === null ? 0 : 100 * delta.changeAbs, 0)}%`.padStart(11);
}

function signed(value: number): string {
  const text = fixed(value, 1);
  return value >= 0 ? `+${text}` : text;
}
