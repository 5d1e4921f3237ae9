/** Reads LKP's ways of writing quantities. All functions return null for text that isn't one. */

const SIZE: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `64G`, `512M`, `4096` → bytes (binary multiples). */
export function parseSize(text: string): number | null {
  const m = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  if (!m) return null;
  const bytes = Number(m[1]) * SIZE[m[2]!.toLowerCase()]!;
  return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : null;
}

/** `300s`, `5m`, `1h`, `10` → seconds. */
export function parseSeconds(text: string): number | null {
  const m = /^(\d+(?:\.\d+)?)\s*(s|m|h|)$/.exec(text.trim());
  if (!m) return null;
  return Number(m[1]) * { s: 1, m: 60, h: 3600, '': 1 }[m[2] as 's' | 'm' | 'h' | '']!;
}

/** `100x`, `16` → integer (LKP writes iterations as `100x`). */
export function parseCount(text: string): number | null {
  const m = /^(\d+)x?$/.exec(text.trim());
  return m ? Number(m[1]) : null;
}

/** `50%` → 50. */
export function parsePercent(text: string): number | null {
  const m = /^(\d+(?:\.\d+)?)%$/.exec(text.trim());
  return m ? Number(m[1]) : null;
}
