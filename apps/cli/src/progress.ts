/**
 * Shows what long work does: on a terminal one line that is written over, elsewhere a plain line whenever it says
 * something new. On stderr; nothing but what was asked for goes to stdout.
 */
export function showProgress(): { line(text: string): void; end(): void } {
  const terminal = process.stderr.isTTY === true;
  let shown = '';
  return {
    line(text) {
      // The seconds left change all the time: off a terminal they alone are nothing new.
      const news = text.replace(/, about \d+ s left$/, '');
      if (terminal) process.stderr.write(`\r\u001b[K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`);
      else if (news !== shown) process.stderr.write(`${text}\n`);
      shown = news;
    },
    end() {
      if (terminal && shown) process.stderr.write('\r\u001b[K');
      shown = '';
    },
  };
}
