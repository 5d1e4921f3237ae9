import type { Moments } from './moments.ts';
import type { Noise } from './noise.ts';
import type { Flag, JudgeInput, MetricRow } from './types.ts';

interface Known {
  base: Moments;
  head: Moments;
  difference: number;
  history: Noise | null;
}

/** The flags of one metric of a pair, in a fixed order. */
export function flagsOf(_row: MetricRow, known: Known, _input: JudgeInput): Flag[] {
  const flags: Flag[] = [];
  if (known.base.n === 0) flags.push('new');
  else if (known.head.n === 0) flags.push('gone');
  else if (known.base.mean === 0 && known.head.mean !== 0) flags.push('new');
  if (!known.history) flags.push('no-history');
  return flags;
}
