import type { ParseContext, Sink } from './parsing.ts';

/** MMTests' `%16.4f %8.4f %10.4f -- `: seconds since the epoch, since the monitor's start and since its last line. */
const prefix = /^ *\d+\.\d{4} +\d+\.\d{4} +(\d+\.\d{4}) -- /;

/** Takes the stamps of a monitor's latency form off its lines; lines without them stay as they are. */
export class LineStamps {
  #longest = 0;
  #lines = 0;

  *strip(lines: Iterable<string>, context: ParseContext): Generator<string> {
    for (const line of lines) {
      const match = prefix.exec(line);
      if (match && !context.unterminated) {
        // The first line waits for the tool to start.
        if (this.#lines > 0) this.#longest = Math.max(this.#longest, Number(match[1]));
        this.#lines++;
      }
      yield match ? line.slice(match[0].length) : line;
    }
    this.#whole = !context.unterminated;
  }

  #whole = false;

  /** Adds `line_gap`, the longest time in seconds between two lines of an output that is whole. */
  addGap(out: Sink): void {
    if (this.#whole && this.#lines > 1) out.add('line_gap', this.#longest);
  }
}
