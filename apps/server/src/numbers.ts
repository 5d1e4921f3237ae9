/** How numbers are written on pages: few digits, real minus signs, nothing that jumps in width more than it must. */

const MINUS = '−';
const sign = (text: string) => text.replace('-', MINUS);

/** Five significant digits, integers as they are below 10^9: 13537, 0.0042, 4.0611, 1.234e12. */
export function value(x: number | null | undefined): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return sign(String(x));
  const abs = Math.abs(x);
  if (abs >= 1e9 || (abs < 1e-4 && abs > 0)) return sign(x.toExponential(3));
  if (abs >= 1e5) return sign(Math.round(x).toString());
  return sign(String(Number(x.toPrecision(5))));
}

/** A change in percent with its sign: +12.3 %, −0.02 %; two digits below 1, none above 1000. */
export function percent(x: number | null | undefined, digits?: number): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  const abs = Math.abs(x);
  const fixed = x.toFixed(digits ?? (abs >= 1000 ? 0 : abs >= 10 ? 1 : abs >= 0.995 ? 1 : 2));
  return `${x > 0 ? '+' : ''}${sign(fixed)} %`;
}

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return '–';
  if (n < 1000) return `${n} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let x = n;
  let unit = 'B';
  for (const next of units) {
    if (x < 1000) break;
    x /= 1000;
    unit = next;
  }
  return `${x < 10 ? x.toFixed(1) : Math.round(x)} ${unit}`;
}

export function seconds(s: number | null | undefined): string {
  if (s === null || s === undefined || !Number.isFinite(s)) return '–';
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 100) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 48 * 3600) return `${(s / 3600).toFixed(1)} h`;
  return `${Math.round(s / 86400)} d`;
}

/** A probability: 0.03, 1e-5. */
export function probability(p: number | null | undefined): string {
  if (p === null || p === undefined) return '–';
  if (p === 0) return '0';
  return p < 0.001 ? p.toExponential(0) : String(Number(p.toPrecision(2)));
}

/** 2026-08-14 10:20, UTC. */
export function when(date: Date | string | null | undefined): string {
  if (!date) return '–';
  const d = typeof date === 'string' ? new Date(date) : date;
  return Number.isNaN(d.getTime()) ? '–' : d.toISOString().slice(0, 16).replace('T', ' ');
}

/** `3 min ago`; the exact time belongs in a title beside it. */
export function ago(date: Date | string | null | undefined, now: Date): string {
  if (!date) return '–';
  const d = typeof date === 'string' ? new Date(date) : date;
  const s = (now.getTime() - d.getTime()) / 1000;
  return s < 0 ? `in ${seconds(-s)}` : `${seconds(s)} ago`;
}

export const shortSha = (sha: string | null | undefined) => (sha ? sha.slice(0, 12) : '–');
