/**
 * C's `%.<digits>f`: exact ties go to the even digit (3.125 → "3.12"), where `toFixed` goes up. |value| < 1e21.
 */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  if (!Number.isFinite(value)) return text;
  // toFixed is exact up to 100 digits: a tie shows as a 5 followed by zeros only.
  const tail = Math.abs(value)
    .toFixed(Math.min(100, digits + 40))
    .split('.')[1]!
    .slice(digits);
  if (!/^50*$/.test(tail)) return text;
  const last = Number(text.at(-1));
  if (last % 2 === 0) return text;
  const step = 10 ** -digits;
  return (value > 0 ? value - step / 2 : value + step / 2).toFixed(digits);
}

/** C's `%.<precision>g`. */
export function general(value: number, precision = 6): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (value === 0) return '0';
  const exponent = Number(value.toExponential(precision - 1).split('e')[1]);
  if (exponent < -4 || exponent >= precision) {
    const [mantissa, exp] = value.toExponential(precision - 1).split('e');
    const sign = exp!.startsWith('-') ? '-' : '+';
    return `${trimZeros(mantissa!)}e${sign}${exp!.replace(/[-+]/, '').padStart(2, '0')}`;
  }
  return trimZeros(fixed(value, Math.max(0, precision - 1 - exponent)));
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
