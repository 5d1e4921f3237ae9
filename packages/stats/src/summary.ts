import type { Delta, JudgeInput, Judgement, Verdict } from './types.ts';

/** Ranks the deltas and says in one line what the pair shows. */
export function summarise(deltas: Delta[], input: JudgeInput, judgeVersion: string): Judgement {
  const ranked = rank(deltas);
  const verdict = pairVerdict(ranked);
  return {
    judgeVersion,
    verdict,
    line: lineOf(ranked, verdict, input),
    wantMore: wantMore(ranked, input),
    deltas: ranked,
    boots: {
      base: input.base.boots.length,
      head: input.head.boots.length,
      history: (input.history ?? []).reduce((sum, matrix) => sum + matrix.boots.length, 0),
    },
  };
}

export function isReported(delta: Delta): boolean {
  return delta.verdict !== 'same' && delta.verdict !== 'inconclusive';
}

interface Ranked {
  delta: Delta;
  class: number;
}

/** By class, then the heaviest first, then by name. The class is worked out once per row, not once per comparison. */
function rank(deltas: Delta[]): Delta[] {
  return deltas
    .map((delta): Ranked => ({ delta, class: rankClass(delta) }))
    .sort(byRank)
    .map((row) => row.delta);
}

function byRank(a: Ranked, b: Ranked): number {
  return a.class - b.class || b.delta.weight - a.delta.weight || byName(a.delta, b.delta);
}

function byName(a: Delta, b: Delta): number {
  return a.metric < b.metric ? -1 : a.metric > b.metric ? 1 : 0;
}

// Reported KPIs, then the other KPIs, then failures and evidence, then what did not change.
function rankClass(delta: Delta): number {
  if (delta.kpi) return isReported(delta) ? 0 : 1;
  if (!isReported(delta)) return 4;
  return delta.family === 'function' ? 2 : 3;
}

function pairVerdict(deltas: Delta[]): Verdict {
  const kpis = deltas.filter((delta) => delta.kpi || delta.family === 'function');
  for (const verdict of ['regression', 'improvement', 'changed'] as const) {
    if (kpis.some((delta) => delta.verdict === verdict)) return verdict;
  }
  if (deltas.some(isReported)) return 'changed';
  const decisive = deltas.some((delta) => delta.kpi) ? deltas.filter((delta) => delta.kpi) : deltas;
  return decisive.length > 0 && decisive.every((delta) => delta.verdict === 'same') ? 'same' : 'inconclusive';
}

function lineOf(deltas: Delta[], verdict: Verdict, input: JudgeInput): string {
  const boots = `${input.base.boots.length} + ${input.head.boots.length} boots`;
  const lead = deltas[0];
  if (lead && isReported(lead)) {
    return `${verdict}: ${lead.metric} ${changeText(lead)}, ${boots}`;
  }
  const kpis = deltas.filter((delta) => delta.kpi);
  const seen = kpis.map((delta) => delta.detectablePct).filter((pct) => pct !== null);
  const wouldSee = seen.length > 0 ? `; would have seen ≥ ${Math.max(...seen).toPrecision(2)} %` : '';
  return `${verdict === 'same' ? 'no change' : 'inconclusive'}${wouldSee}, ${boots}`;
}

function changeText(delta: Delta): string {
  if (delta.changePct === null) return 'new';
  const ci = delta.ci95Pct ? ` [${signed(delta.ci95Pct[0])}, ${signed(delta.ci95Pct[1])}]` : '';
  return `${signed(delta.changePct)} %${ci}`;
}

function signed(value: number): string {
  const digits = Math.abs(value) < 1 ? 2 : 1;
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 ? '−' : '+'}${text}`;
}

function wantMore(deltas: Delta[], input: JudgeInput): boolean {
  const look = input.look ?? 1;
  const looksMax = input.looksMax ?? 1;
  if (look >= looksMax) return false;
  return deltas.some((delta) => delta.kpi && delta.verdict === 'inconclusive');
}
