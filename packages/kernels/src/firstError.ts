/** The first error in a build's log: one line for lists, and the lines around it. */
export interface FirstError {
  message: string;
  excerpt: string;
}

const ERRORS = [
  /^[^\s:]+:\d+(:\d+)?: (fatal )?error: /,
  /undefined reference to|multiple definition of|(^|[/ ])ld: (?!warning)/,
  /: (fatal )?error: |^error: |^fatal: /i,
  /command not found|sh: \d+: |Resource temporarily unavailable|Cannot allocate memory|No space left on device/,
  /No rule to make target|missing separator|\*\*\* /,
  /^make(\[\d+\])?: .*Error \d+/,
];

/** Control sequences and other bytes that no terminal or page should get. */
export function plainText(text: string): string {
  return text
    .replace(/\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)/g, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');
}

/**
 * Finds the first error in make's output: the compiler's before the linker's before make's own, for make reports the
 * same error once per folder level. Lines are cut to 400 characters, the excerpt to 20 lines.
 */
export function firstError(log: string): FirstError {
  const lines = log.split('\n').map((line) => plainText(line.slice(0, 2000)).replaceAll('/src/', '').slice(0, 400));
  const at = firstMatch(lines);
  if (at < 0) {
    const tail = lines.filter((line) => line.trim() !== '').slice(-12);
    return { message: tail[tail.length - 1] ?? 'make printed nothing', excerpt: tail.join('\n') };
  }
  // `In file included from` and `In function` lines lead up to the error.
  let start = at;
  while (
    start > 0 &&
    at - start < 6 &&
    /^(In file included|\s+from )|: In function|: At top level/.test(lines[start - 1]!)
  )
    start--;
  return {
    message: lines[at]!.trim(),
    excerpt: lines
      .slice(start, at + 14)
      .join('\n')
      .trimEnd(),
  };
}

function firstMatch(lines: string[]): number {
  for (const pattern of ERRORS) {
    const at = lines.findIndex((line) => pattern.test(line));
    if (at >= 0) return at;
  }
  return -1;
}
