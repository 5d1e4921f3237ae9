/** Plain data of a bisect: everything here survives JSON, so a search can be stored and replayed. */

export type Sha = string;

export interface CommitNode {
  sha: Sha;
  /** Parents in git's order; those outside `good..bad` are ignored. */
  parents: Sha[];
}

/** Boot-to-boot noise of the metric, from its history. */
export interface NoiseHistory {
  /** Relative standard deviation of one boot (0.01 = 1 %). */
  sd: number;
  /** Degrees of freedom behind `sd`. */
  df: number;
  /**
   * Relative spread between builds of equivalent source (layout); repeated boots of one build don't average it out.
   * Default 0.0003: no two kernels are exactly equal.
   */
  buildSd?: number;
}

export interface SearchInput {
  /** The commits of `good..bad` (reachable from bad, not from good), in any order; `good` itself may be included. */
  commits: CommitNode[];
  good: Sha;
  bad: Sha;
  /** `number`: a metric, one number per boot. `binary`: 0 (good) or 1 (bad) per run, flaky answers allowed. */
  kind?: 'number' | 'binary';
  /** Names of the metrics of a KPI vector; without it observations carry one number per boot. */
  metrics?: string[];
  /** Weight of a commit before any boot, e.g. 0.02 when it touches no file of this build; 1 when not named, never 0. */
  prior?: Record<Sha, number>;
  /** Build key of commits known to give the same image: commits with equal values are one kernel. */
  identical?: Record<Sha, string>;
  /** Stop when the culprit has this probability. Default 0.95. */
  certainty?: number;
  /** Boots that may be spent beyond those marked `stored`. Default 200. */
  budget?: number;
  noise?: NoiseHistory;
  /** The sign that the step must have (+1: values grow from good to bad). A step the other way is refused. */
  direction?: 1 | -1;
  /** Compare the culprit with its parents by fresh boots before naming it. Default true. */
  verify?: boolean;
  /** Probability that the range holds no step at all, before any boot. Default 0.5. */
  nullPrior?: number;
}

/** One boot's result: a number, or for a KPI vector one entry per metric (null where the boot has none). */
export type BootValue = number | (number | null)[];

export interface Observation {
  sha: Sha;
  values: BootValue[];
  /** Boots of one session share its level shift; boots of unlike sessions are compared through the ends in both. */
  session?: string;
  host?: string;
  /** Taken before this bisect (the pair's boots, the store): they inform, and don't count against the budget. */
  stored?: boolean;
  /** Taken for a `verify` step: such boots of culprit and parents count as its fresh block. */
  verify?: boolean;
}

export type SearchEvent =
  | ({ kind: 'observe' } & Observation)
  | { kind: 'untestable'; sha: Sha }
  | { kind: 'budget'; budget: number };

/** A search as plain data: `replay(record)` gives the same search, and the same next step, always. */
export interface SearchRecord {
  version: 1;
  input: SearchInput;
  events: SearchEvent[];
}

export interface Probe {
  sha: Sha;
  boots: number;
}

export interface Candidate {
  sha: Sha;
  probability: number;
}

export interface StepSize {
  /** Change from the old to the new level in percent of the old one (binary: percentage points). */
  pct: number;
  ci95: [number, number];
  /** The same in units of one boot's standard deviation. */
  d: number;
}

export interface SecondStep {
  /** The second step lies in `after..upto`. */
  after: Sha;
  upto: Sha;
  /** Level there against the good end, percent. */
  levelPct: number;
}

export type RefusalCode = 'no-step' | 'undecided' | 'wrong-direction' | 'end-untestable' | 'nothing-testable';

interface Wanted {
  /** What to boot now, interleaved when there are several. */
  probes: Probe[];
  /** One line for people. */
  why: string;
}

export type Next =
  | ({ kind: 'confirm-ends' } & Wanted)
  | ({ kind: 'probe' } & Wanted)
  | ({ kind: 'verify'; culprit: Sha; parents: Sha[] } & Wanted)
  | {
      kind: 'done';
      /** Null when the budget ran out, or when untestable commits make several indistinguishable. */
      culprit: Sha | null;
      certainty: number;
      /** Smallest set that holds the culprit with the asked certainty, likeliest first. */
      credible: Candidate[];
      step: StepSize | null;
      second: SecondStep | null;
      verified: boolean;
      drift: boolean;
      reason: string;
    }
  | { kind: 'refused'; code: RefusalCode; reason: string; step: StepSize | null; moreBoots: number | null };

export interface NextOptions {
  /** Kernels that are built already: taken when they tell at least 92 % of what the best one would. */
  built?: ReadonlySet<Sha>;
  /** Hosts that are free now: that many probes are proposed. Default 1. */
  hosts?: number;
  /** Minutes of a boot and of a build; with both, several boots are asked of a kernel that must be built first. */
  cost?: { boot: number; build: number };
}
