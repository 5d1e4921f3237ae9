import { massBelow } from './graph.ts';
import type { Posterior } from './posterior.ts';
import type { Search } from './search.ts';
import type { NextOptions, Probe } from './types.ts';

/** Built kernels are taken when they tell at least this share of what the best one would. */
const NEARLY_AS_GOOD = 0.92;

/**
 * The commits to boot next: where the label is least known, h₂(q) with q the probability of the new level there; for
 * several hosts the ones nearest to the quantiles k/(H+1). Empty when no testable commit is left to choose.
 */
export function chooseProbes(search: Search, posterior: Posterior, options: NextOptions): Probe[] {
  const { graph } = search;
  const known = 1 - posterior.none;
  const below = massBelow(graph, posterior.mass);
  const hosts = Math.max(1, Math.floor(options.hosts ?? 1));
  const chosen: Probe[] = [];
  const taken = new Set<number>();
  for (let k = 1; k <= hosts; k++) {
    let best = -1;
    let bestInformation = 0;
    let bestBuilt = -1;
    let bestBuiltInformation = 0;
    for (let c = 0; c < graph.size - 1; c++) {
      // A commit with its parent's image is booted as its parent: the two differ by a billionth of what a boot tells.
      if (search.untestable.has(c) || taken.has(c) || search.kernelCommit(graph.shas[c]!) !== c) continue;
      const q = below[c]! / known;
      const information = binaryEntropy(recentre(q, k / (hosts + 1))) * search.likelyTestable(c);
      if (information > bestInformation) {
        best = c;
        bestInformation = information;
      }
      if (information > bestBuiltInformation && isBuilt(search, c, options.built)) {
        bestBuilt = c;
        bestBuiltInformation = information;
      }
    }
    if (best < 0) break;
    const pick = bestBuilt >= 0 && bestBuiltInformation >= NEARLY_AS_GOOD * bestInformation ? bestBuilt : best;
    taken.add(pick);
    chosen.push({ sha: graph.shas[pick]!, boots: bootsOf(search, posterior, pick, options) });
  }
  return chosen;
}

/** Several boots where a build must be paid for first: as many as the build costs boots, at most what is sure to be needed. */
function bootsOf(search: Search, posterior: Posterior, commit: number, options: NextOptions): number {
  if (options.cost === undefined || isBuilt(search, commit, options.built)) return 1;
  const d = Math.abs(posterior.step?.d ?? 0);
  const needed = Math.max(1, Math.round(3 / Math.max(0.1, d * d)));
  const worth = 1 + Math.round(options.cost.build / Math.max(options.cost.boot, 1e-9));
  return Math.min(needed, worth, 4);
}

function isBuilt(search: Search, commit: number, built: ReadonlySet<string> | undefined): boolean {
  return search.observed.has(commit) || (built?.has(search.graph.shas[commit]!) ?? false);
}

/** Moves the target quantile to ½, keeping 0 and 1. */
function recentre(q: number, target: number): number {
  return q < target ? (0.5 * q) / target : 1 - (0.5 * (1 - q)) / (1 - target);
}

export function binaryEntropy(q: number): number {
  if (q <= 0 || q >= 1) return 0;
  return -(q * Math.log2(q) + (1 - q) * Math.log2(1 - q));
}
