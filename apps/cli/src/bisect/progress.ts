import type { WriteStream } from 'node:tty';
import { type Next, posterior, type Search } from '@kdelta/bisect';

export interface Progress {
  step(why: string): void;
  value(sha: string, value: number, run: number): void;
  failure(sha: string, what: string): void;
  end(): void;
}

const BARS = ' ▁▂▃▄▅▆▇█';

/** A live picture of the posterior on a terminal; one line per run elsewhere. */
export function lookAt(search: Search, out: WriteStream | NodeJS.WriteStream): Progress {
  const live = out.isTTY === true;
  let why = '';
  let drawn = false;
  const clear = () => {
    if (drawn) out.write('\r\x1b[2K\x1b[1A\x1b[2K');
    drawn = false;
  };
  const leader = () => {
    const [sha, p] = [...posterior(search)].reduce((a, b) => (b[1] > a[1] ? b : a));
    return `${sha.slice(0, 12)} ${(100 * p).toFixed(p < 0.1 ? 1 : 0)} %`;
  };
  const showable = () => search.observed.has(-1) && search.observed.has(search.graph.size - 1);
  return {
    step(text) {
      why = text;
    },
    value(sha, value, run) {
      if (!live) {
        const now = showable() ? `; likeliest ${leader()}` : '';
        out.write(`run ${run}: ${sha.slice(0, 12)} ${value}${now}\n`);
        return;
      }
      clear();
      const width = Math.max(10, Math.min(search.graph.size, (out as WriteStream).columns - 24));
      const now = showable() ? `${barsOf(search, width)} ${leader()}` : '';
      out.write(`run ${run}: ${sha.slice(0, 12)} ${value} (${why})`.slice(0, (out as WriteStream).columns - 1));
      out.write(`\n${now}`);
      drawn = true;
    },
    failure(sha, what) {
      clear();
      out.write(`${sha.slice(0, 12)}: ${what}\n`);
    },
    end: clear,
  };
}

/** The posterior over the range, old to new, as one line of bars (square root, so that small chances show). */
function barsOf(search: Search, width: number): string {
  const mass = [...posterior(search).values()];
  const cells = new Array<number>(width).fill(0);
  mass.forEach((p, i) => {
    cells[Math.floor((i * width) / mass.length)]! += p;
  });
  return cells.map((p) => BARS[Math.ceil(Math.sqrt(Math.min(1, p)) * (BARS.length - 1))]).join('');
}

/** Prints the result; returns the exit status. */
export function printResult(
  search: Search,
  end: Extract<Next, { kind: 'done' | 'refused' }>,
  runs: number,
  json: boolean,
): number {
  const culprit = end.kind === 'done' ? end.culprit : null;
  const credible = end.kind === 'done' ? end.credible : [];
  const perCommit = runsPerCommit(search);
  if (json) {
    const result = {
      culprit,
      certainty: end.kind === 'done' ? end.certainty : 0,
      credible: credible.map((c) => c.sha),
      step_pct: end.step?.pct ?? null,
      ci95_pct: end.step?.ci95 ?? null,
      runs,
      per_commit: perCommit,
      reason: end.reason,
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return culprit === null ? 1 : 0;
  }
  const lines: string[] = [];
  if (culprit !== null && end.kind === 'done') {
    lines.push(`culprit: ${culprit}`);
    lines.push(`certainty: ${(100 * end.certainty).toFixed(1)} %`);
  } else lines.push(`no culprit: ${end.reason}`);
  if (end.step !== null) {
    const unit = search.input.kind === 'binary' ? 'points more bad runs' : '%';
    const [low, high] = end.step.ci95;
    lines.push(`step: ${end.step.pct.toFixed(2)} ${unit} (95 %: ${low.toFixed(2)} to ${high.toFixed(2)})`);
  }
  if (end.kind === 'done' && end.second !== null)
    lines.push(`a second step lies in ${end.second.after.slice(0, 12)}..${end.second.upto.slice(0, 12)}`);
  if (culprit === null && credible.length > 0) {
    lines.push('it is one of:');
    for (const c of credible.slice(0, 20)) lines.push(`  ${c.sha} ${(100 * c.probability).toFixed(1)} %`);
    if (credible.length > 20) lines.push(`  and ${credible.length - 20} more`);
  }
  lines.push(`runs: ${runs}`);
  for (const [sha, values] of Object.entries(perCommit)) lines.push(`  ${sha.slice(0, 12)} ${values.join(' ')}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  return culprit === null ? 1 : 0;
}

function runsPerCommit(search: Search): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const e of search.events) {
    if (e.kind !== 'observe') continue;
    found[e.sha] = [...(found[e.sha] ?? []), ...e.values.map(Number)];
  }
  return found;
}
