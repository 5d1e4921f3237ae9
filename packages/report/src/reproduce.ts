/**
 * The `reproduce` script of a boot, from the log of the commands that ran on its host: one a line, in their order, as in
 * LKP's mails (one governor line per CPU, then the benchmark). The log came from a host that ran a kernel under test, so
 * what isn't printable is shown as `?`, and more than `maxLines` lines are cut with a comment that says so.
 */
export function reproduceScript(log: string, maxLines = 10_000): string {
  const lines = log
    .split(/\r?\n/)
    .map((line) => line.replace(/[^\x20-\x7e\u00a0-\uffff]/g, '?').trimEnd())
    .filter((line) => line !== '');
  const kept = lines.slice(0, maxLines);
  if (lines.length > maxLines) kept.push(`# ${lines.length - maxLines} more lines were cut`);
  return kept.map((line) => `${line}\n`).join('');
}
