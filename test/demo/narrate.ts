import type { BisectAnswer, OverviewAnswer } from './dashboard.ts';

/** Prints a line with the time since the start. */
export type Say = (line: string) => void;

export function sayer(startedAt: number): Say {
  return (line) => {
    const s = Math.round((Date.now() - startedAt) / 1000);
    process.stdout.write(`[${String(Math.floor(s / 60)).padStart(2)}:${String(s % 60).padStart(2, '0')}] ${line}\n`);
  };
}

/** Tells what is new in the overview since the last call, one line each; `subjectOf` names the commits. */
export function narrator(
  say: Say,
  subjectOf: (sha: string | null) => string,
): (now: OverviewAnswer, bisects: BisectAnswer[]) => void {
  const told = new Set<string>();
  const once = (line: string) => {
    if (told.has(line)) return;
    told.add(line);
    say(line);
  };
  return (now, bisects) => {
    for (const r of now.running) {
      const what = `${r.sha?.slice(0, 10) ?? r.package} ${subjectOf(r.sha)}`;
      if (r.what === 'kernel') once(`  build   ${what}`);
      else once(`  boot ${String(r.id).padEnd(3)}${what}${r.bisect_id ? '  (bisect)' : ''}`);
    }
    for (const p of [...now.pairs].reverse()) {
      const range = `${p.base_sha?.slice(0, 10)}..${p.head_sha?.slice(0, 10)} ${p.testcase}`;
      if (p.state === 'planned') once(`pair ${p.id}: ${range}`);
      if (p.state === 'judged' || p.state === 'failed') once(`pair ${p.id}: ${p.line ?? p.state}`);
    }
    for (const b of bisects) {
      if (b.best !== null && b.state !== 'done') {
        once(`bisect ${b.id}: ${b.boots_done} boots of its own, best candidate ${Math.round(b.best * 100)}%`);
      }
      if (b.state === 'done' || b.state === 'failed') {
        const end = b.culprit_sha ? `culprit ${b.culprit_sha.slice(0, 10)} ${subjectOf(b.culprit_sha)}` : 'no culprit';
        once(`bisect ${b.id}: ${b.state}, ${end}`);
      }
    }
    for (const h of now.hosts) if (h.state === 'quarantined') once(`host ${h.name} is quarantined: ${h.note ?? ''}`);
  };
}
