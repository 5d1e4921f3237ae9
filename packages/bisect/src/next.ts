import { binaryEntropy, chooseProbes } from './choose.ts';
import { massBelow } from './graph.ts';
import type { Posterior } from './posterior.ts';
import type { Search } from './search.ts';
import { countSteps, HINTED, SUSPECTED } from './second.ts';
import type { BootValue, Candidate, Next, NextOptions, Probe, Sha, StepSize } from './types.ts';

/**
 * The life of a search. Ends first: until "no step" is unlikely, both ends are booted, or the search is refused. Then
 * probes where they tell most; when doubt about the step returns (drift, a wild boot at an end), the ends again. When
 * one candidate, or one group that can't be told apart, has the asked certainty, culprit and parents are booted
 * afresh; their boots count like any others, so a wrong answer loses its certainty and the search goes on.
 */

/** Doubt about the step below which probing begins with 24 boots at the ends, above which it pauses for them, and that a culprit may have. */
const BEGIN = 0.12;
const PAUSE = 0.35;
/** Share of the boots that each level should have, by the posterior. */
const SCARCE = 0.1;
/** And share of the probed kernel's own boots that must be known to show each level, before it gets more. */
const KNOWN = 0.8;
const NAME = 0.015;
/** z of a difference that counts as seen, when saying how many more boots could tell. */
const SEEN = 3.3;
/** Percent: ends that differ by less for sure are not searched. */
const LEAST_STEP = 0.005;

/** What to do next. Pure: the same search gives the same answer. */
export function next(search: Search, options: NextOptions = {}): Next {
  const count = countSteps(search);
  if (count.kind === 'two') {
    const step = nextOfOneStep(count.search, options);
    return step.kind === 'done' ? { ...step, second: count.second } : step;
  }
  const step = nextOfOneStep(search, options);
  if (step.kind === 'refused' || search.spent >= search.budget) return step;
  const naming = search.input.verify !== false && step.kind === 'done' && step.culprit !== null;
  if (naming) {
    const unclear = endsForSecondStep(search);
    if (unclear !== null) return unclear;
  }
  const sha = count.sha;
  if (sha === undefined || count.gain < (naming ? HINTED : SUSPECTED)) return step;
  return { kind: 'probe', probes: [{ sha, boots: 1 }], why: `there may be a second step: ${short(sha)} again` };
}

/**
 * Probability that boots of a kernel outside the range show the old level, e.g. of bad with the culprit reverted: near 1
 * when the revert takes the step away, near 0 when it doesn't. Prior odds are even.
 */
export function showsOldLevel(search: Search, values: BootValue[]): number {
  return 1 / (1 + Math.exp(search.posterior().oddsOf(values)));
}

/** Before a culprit is named the ends need boots enough for a second step of half the size to show (z = 3), at most 6. */
function endsForSecondStep(search: Search): Next | null {
  const d = Math.abs(search.posterior().step?.d ?? 0);
  if (search.input.kind === 'binary') return null;
  const needed = Math.min(6, Math.ceil(2 * (6 / Math.max(d, 0.1)) ** 2));
  const probes = ends(1, search, 'is all of the step here?');
  if (probes.kind !== 'confirm-ends') return null;
  const missing = probes.probes.filter((p) => (search.observed.get(search.kernelCommit(p.sha)) ?? 0) < needed);
  return missing.length === 0 ? null : { ...probes, probes: missing };
}

function nextOfOneStep(search: Search, options: NextOptions): Next {
  if (search.endUntestable !== null)
    return refuse(search, 'end-untestable', `the end ${short(search.endUntestable)} can't be tested: choose another`);
  const first = firstEnds(search);
  if (first !== null) {
    if (search.spent < search.budget) return first;
    return refuse(search, 'undecided', 'the budget ended before both ends had a spread: allow more boots');
  }
  const now = search.posterior();
  const probed = [...search.observed.keys()].some((c) => c !== -1 && c !== search.graph.size - 1);
  const direction = wrongDirection(search, now);
  if (direction !== null) return direction;
  if (now.none > (probed || endsSayNoMore(search) ? PAUSE : doubtToBegin(search)))
    return confirmEnds(search, now, probed);
  const certainty = search.input.certainty ?? 0.95;
  const outOfBudget = search.spent >= search.budget;

  const leader = leading(search, now, certainty);
  if (leader.certainty >= certainty) {
    if (now.none > NAME && !outOfBudget) return ends(1, search, 'how sure the step itself is');
    if (leader.culprit === null) return done(search, now, leader, false, 'untestable commits hide which one it is');
    const check = outOfBudget || search.input.verify === false ? null : verification(search, leader.culprit, now);
    if (check !== null && check !== 'failed') return check;
    const verified = search.input.verify !== false && check === null && !outOfBudget;
    return done(search, now, leader, verified, 'certainty reached');
  }
  if (outOfBudget)
    return done(search, now, { ...leader, culprit: null }, false, `the budget is used up; ${moreBoots(now)}`);
  if (now.drift && bootsSinceEnds(search) >= 5) return ends(1, search, 'the host drifts: the ends again');
  const scarce = scarceEnd(search, now);
  if (scarce !== null) return scarce;
  const probes = chooseProbes(search, now, options);
  if (probes.length === 0) {
    if (search.untestable.size >= search.graph.size - 1 && search.graph.size > 1)
      return refuse(search, 'nothing-testable', 'no commit of the range can be tested: widen the range');
    if (search.observed.size <= 2 && search.graph.size > 1)
      return done(search, now, { ...leader, culprit: null }, false, 'no commit is left to test');
    return ends(1, search, 'nothing else is left to test');
  }
  const unknown = unknownEnd(search, now, probes);
  if (unknown !== null) return unknown;
  const names = probes.map((p) => short(p.sha)).join(', ');
  return { kind: 'probe', probes, why: `${names} split${probes.length === 1 ? 's' : ''} what is left most evenly` };
}

/**
 * Few boots at the ends that pass are often those that chance drove apart: their step is too large, and the search trusts it. Many
 * that don't pass have said what the levels are: probes tell as much about the step as further boots of the ends.
 */
function doubtToBegin(search: Search): number {
  return BEGIN * Math.max(0.6, Math.min(2.5, bootsOfEnds(search) / 24));
}

function bootsOfEnds(search: Search): number {
  return (search.observed.get(-1) ?? 0) + (search.observed.get(search.graph.size - 1) ?? 0);
}

/** At least three boots of each end (one with a noise history or for binary outcomes), so that there is a spread. */
function firstEnds(search: Search): Next | null {
  const history = (search.input.noise?.df ?? 0) >= 4;
  const least = search.input.kind === 'binary' || history ? 1 : 3;
  const { good, bad } = search.input;
  const probes: Probe[] = [];
  for (const [sha, commit] of [
    [good, -1],
    [bad, search.graph.size - 1],
  ] as const) {
    const missing = least - (search.observed.get(commit) ?? 0);
    if (missing > 0) probes.push({ sha, boots: missing });
  }
  return probes.length === 0 ? null : { kind: 'confirm-ends', probes, why: 'both ends must show the step' };
}

function ends(boots: number, search: Search, why: string): Next {
  const { good, bad } = search.input;
  return {
    kind: 'confirm-ends',
    probes: [
      { sha: good, boots },
      { sha: bad, boots },
    ],
    why,
  };
}

function confirmEnds(search: Search, now: Posterior, probed: boolean): Next {
  const onEnds = bootsOfEnds(search);
  const d = Math.abs(now.step?.d ?? 0);
  const largest = d + 2 * Math.sqrt(4 / onEnds);
  const needed = Math.ceil((4 * SEEN * SEEN) / Math.max(d * d, 1e-6));
  const more = Math.max(2, needed - onEnds);
  const left = search.budget - search.spent;
  const binary = search.input.kind === 'binary';
  const hopeless = !binary && onEnds >= 10 && expectedBoots(largest, search.graph.size) > left + onEnds;
  const invisible = !binary && onEnds >= 10 && now.step?.ci95.every((v) => Math.abs(v) < LEAST_STEP);
  const lean = now.none > (binary ? 0.9 : 0.97) && onEnds >= (binary ? 6 : 10);
  const limit = Math.max(12, Math.floor(search.budget * 0.6));
  if (left <= 0 || hopeless || lean || invisible || onEnds >= limit) {
    const seen = now.step === null ? 'show no difference' : `differ by ${plusMinus(now.step)}`;
    const tell = d > 0.05 && more < 1000 ? `${more} more boots could tell` : 'more boots would hardly tell';
    const code = left <= 0 || hopeless ? 'undecided' : 'no-step';
    return refuse(search, code, `the ends ${seen}; ${tell}`, d > 0.05 ? more : null);
  }
  return ends(
    1,
    search,
    probed ? 'the step itself is in doubt: the ends again' : 'the ends don’t show the step surely yet',
  );
}

/** Shannon's part and the confirmation of the limit E = log₂n/C(d) + 4 ln(1/δ)/d² with C ≈ d²/(8 ln 2), δ = 0.05. */
function expectedBoots(d: number, commits: number): number {
  return (Math.log2(Math.max(2, commits)) * 8 * Math.LN2) / (d * d) + (4 * Math.log(20)) / (d * d);
}

/** What a larger budget would have to add: the boots for as many equally likely commits as the posterior's entropy makes, and half again. */
function moreBoots(now: Posterior): string {
  let nats = 0;
  for (const p of now.mass) if (p > 0) nats -= p * Math.log(p);
  const more = Math.ceil(1.5 * expectedBoots(Math.max(0.05, Math.min(3, Math.abs(now.step?.d ?? 0))), Math.exp(nats)));
  return more < 1000 ? `about ${more} more boots could tell` : 'more boots would hardly tell';
}

/** Where builds differ more than boots, more boots of the ends add nothing: other kernels must tell. */
function endsSayNoMore(search: Search): boolean {
  const noise = search.input.noise;
  if (noise?.buildSd === undefined || noise.buildSd < noise.sd) return false;
  return [-1, search.graph.size - 1].every((end) => (search.observed.get(end) ?? 0) >= 3);
}

/** Boots since both ends were last booted in this search. */
function bootsSinceEnds(search: Search): number {
  let boots = 0;
  for (let i = search.events.length - 1; i >= 0; i--) {
    const e = search.events[i]!;
    if (e.kind !== 'observe') continue;
    if (e.sha === search.input.good || e.sha === search.input.bad) return boots;
    boots += e.values.length;
  }
  return boots;
}

/**
 * The end of whose level few boots are left by the posterior: every label is judged against both levels, and a level that few
 * boots know keeps the wrong half of the range in the race. Where one boot tells (d ≥ 4) that doesn't matter.
 */
function scarceEnd(search: Search, now: Posterior): Next | null {
  if (search.input.kind === 'binary' || Math.abs(now.step?.d ?? 0) >= 4) return null;
  const below = massBelow(search.graph, now.mass);
  const known = 1 - now.none;
  let total = 0;
  let fresh = 0;
  for (const [commit, boots] of search.observed) {
    total += boots;
    fresh += boots * (commit < 0 ? 0 : Math.min(1, below[commit]! / known));
  }
  // Of the boots spent: a base that history booted hundreds of times doesn't ask for dozens of bad.
  const least = SCARCE * Math.min(total, search.spent);
  const sha = fresh < least ? search.input.bad : total - fresh < least ? search.input.good : null;
  if (sha === null) return null;
  const why = `few boots show the level of ${sha === search.input.good ? 'good' : 'bad'}`;
  return { kind: 'confirm-ends', probes: [{ sha, boots: 1 }], why };
}

/**
 * The end of whose level fewer boots are known than a probe has itself. Its label is judged by the distance of its mean from both
 * levels, and past that point it is they that aren't known: more boots of it would go on for hundreds and tell nothing.
 * A boot counts as known by how sure its kernel's label is, 1 − h₂(q): those in doubt would all fall to one side together.
 */
function unknownEnd(search: Search, now: Posterior, probes: Probe[]): Next | null {
  if (search.input.kind === 'binary' || endsSayNoMore(search)) return null;
  const below = massBelow(search.graph, now.mass);
  for (const probe of probes) {
    const probed = search.kernelCommit(probe.sha);
    const own = search.observed.get(probed) ?? 0;
    if (own < 2) continue;
    const known = [0, 0];
    for (const [commit, boots] of search.observed) {
      if (commit === probed) continue;
      const q = commit < 0 ? 0 : Math.min(1, below[commit]! / (1 - now.none));
      const sure = boots * (1 - binaryEntropy(q));
      known[0]! += sure * (1 - q);
      known[1]! += sure * q;
    }
    if (Math.min(...known) >= KNOWN * own) continue;
    const isGood = known[0]! < known[1]!;
    const why = `the level of ${isGood ? 'good' : 'bad'} is known less well than that of ${short(probe.sha)}`;
    return { kind: 'confirm-ends', probes: [{ sha: isGood ? search.input.good : search.input.bad, boots: 1 }], why };
  }
  return null;
}

interface Leader {
  culprit: Sha | null;
  certainty: number;
}

/** The likeliest candidate, or when the answer is a group of inseparable ones, that group (culprit null). */
function leading(search: Search, now: Posterior, asked: number): Leader {
  const groupOf = search.groups();
  const sum = new Float64Array(search.graph.size);
  let best = 0;
  for (let b = 0; b < search.graph.size; b++) {
    sum[groupOf[b]!]! += now.mass[b]!;
    if (now.mass[b]! > now.mass[best]!) best = b;
  }
  if (now.mass[best]! >= asked) return { culprit: search.graph.shas[best]!, certainty: now.mass[best]! };
  let group = 0;
  for (let b = 0; b < search.graph.size; b++) if (sum[b]! > sum[group]!) group = b;
  const members = groupOf.reduce((n, g) => n + (g === group ? 1 : 0), 0);
  if (members === 1) return { culprit: search.graph.shas[best]!, certainty: now.mass[best]! };
  return { culprit: null, certainty: sum[group]! };
}

/**
 * Fresh boots of the culprit and each testable parent, interleaved, until both were seen on their own side with odds
 * of 20:1. Null when that is so, 'failed' when four rounds didn't show it.
 */
function verification(search: Search, culprit: Sha, now: Posterior): Next | 'failed' | null {
  const d = Math.abs(now.step?.d ?? 1);
  const round = d >= 4 || search.input.kind === 'binary' ? 1 : 2;
  const parents = parentsOf(search, culprit).filter((p) => !isUntestable(search, p));
  const fresh = freshBoots(search);
  const seen = (sha: Sha, isNew: boolean) => (now.logOdds.get(search.kernelCommit(sha)) ?? 0) * (isNew ? 1 : -1);
  const sides: [Sha, boolean][] = [...parents.map((p) => [p, false] as [Sha, boolean])];
  if (!isUntestable(search, culprit)) sides.push([culprit, true]);
  const lacking = sides.filter(([sha, isNew]) => (fresh.get(sha) ?? 0) < round || seen(sha, isNew) < Math.log(20));
  if (lacking.length === 0) return null;
  if (lacking.every(([sha]) => (fresh.get(sha) ?? 0) >= 4 * round)) return 'failed';
  const probes = lacking.map(([sha]) => ({ sha, boots: round }));
  return {
    kind: 'verify',
    culprit,
    parents,
    probes,
    why: `${short(culprit)} against its parent${parents.length === 1 ? '' : 's'}`,
  };
}

function freshBoots(search: Search): Map<Sha, number> {
  const fresh = new Map<Sha, number>();
  for (const e of search.events)
    if (e.kind === 'observe' && e.verify === true) fresh.set(e.sha, (fresh.get(e.sha) ?? 0) + e.values.length);
  return fresh;
}

function parentsOf(search: Search, sha: Sha): Sha[] {
  const i = search.graph.index.get(sha)!;
  const inRange = search.graph.parents[i]!.map((p) => search.graph.shas[p]!);
  const node = search.input.commits.find((c) => c.sha === sha)!;
  return node.parents.includes(search.input.good) || inRange.length === 0 ? [...inRange, search.input.good] : inRange;
}

function isUntestable(search: Search, sha: Sha): boolean {
  const i = search.graph.index.get(sha);
  return i !== undefined && search.untestable.has(i);
}

function done(search: Search, now: Posterior, leader: Leader, verified: boolean, reason: string): Next {
  return {
    kind: 'done',
    culprit: leader.culprit,
    certainty: leader.certainty,
    credible: credibleSet(search, now),
    step: now.step,
    second: null,
    verified,
    drift: now.drift,
    reason,
  };
}

/** The smallest set with the asked certainty among "there is a step", likeliest first. */
export function credibleSet(search: Search, now: Posterior): Candidate[] {
  const asked = (search.input.certainty ?? 0.95) * (1 - now.none);
  const order = Array.from(now.mass.keys()).sort((a, b) => now.mass[b]! - now.mass[a]! || a - b);
  const set: Candidate[] = [];
  let sum = 0;
  for (const b of order) {
    set.push({ sha: search.graph.shas[b]!, probability: now.mass[b]! });
    sum += now.mass[b]!;
    if (sum >= asked) break;
  }
  return set;
}

function wrongDirection(search: Search, now: Posterior): Next | null {
  const wanted = search.input.direction;
  if (now.step === null || now.none > 0.05) return null;
  if (search.input.kind === 'binary' && now.step.d < 0)
    return refuse(search, 'wrong-direction', 'good fails more often than bad: exchange them');
  if (wanted === undefined || Math.sign(now.step.d) === wanted) return null;
  return refuse(search, 'wrong-direction', `the ends differ the other way round: by ${plusMinus(now.step)}`);
}

function refuse(
  search: Search,
  code: Extract<Next, { kind: 'refused' }>['code'],
  reason: string,
  moreBoots: number | null = null,
): Next {
  const step = search.observed.has(-1) && search.observed.has(search.graph.size - 1) ? search.posterior().step : null;
  return { kind: 'refused', code, reason, step, moreBoots };
}

function plusMinus(step: StepSize): string {
  const half = (step.ci95[1] - step.ci95[0]) / 2;
  const digits = half >= 1 ? 1 : half >= 0.1 ? 2 : 3;
  return `${step.pct.toFixed(digits)} % ± ${half.toFixed(digits)} %`;
}

function short(sha: Sha): string {
  return sha.slice(0, 12);
}
