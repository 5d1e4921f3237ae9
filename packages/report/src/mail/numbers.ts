import { averageCell } from '../table-cells.ts';

/** `11.3%`, without sign. */
export function plainPercent(pct: number): string {
  return `${oneDecimal(Math.abs(pct))}%`;
}

/** `-11.9%`, `+0.4%`. */
export function signedPercent(pct: number): string {
  return `${pct < 0 ? '-' : '+'}${oneDecimal(Math.abs(pct))}%`;
}

/** One decimal; two below 1, so that a change of 0.3 % on a deterministic host keeps its digits. */
function oneDecimal(size: number): string {
  return size.toFixed(size < 1 ? 2 : 1);
}

/** A mean as the table prints it. */
export function mean(value: number | null): string {
  return averageCell(value).trim();
}

/** Raw values in one notation: as many digits as tell them apart, at most six. */
export function rawValue(value: number | null): string {
  if (value === null) return '-';
  if (Math.abs(value) >= 1e6 && Math.abs(value) < 1e15) return String(Math.round(value));
  return String(Number(value.toPrecision(6)));
}

/** `an` before 8…, 11 and 18. */
export function article(number: string): 'a' | 'an' {
  return /^(8|11(\D|$)|18(\D|$))/.test(number) ? 'an' : 'a';
}
