/** A small seeded generator (mulberry32): the benches must give the same numbers twice. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** All subsets of `k` out of `from`. */
export function combinations(from: number[], k: number): number[][] {
  if (k === 0) return [[]];
  return from.flatMap((first, i) => combinations(from.slice(i + 1), k - 1).map((rest) => [first, ...rest]));
}

/** Ordered pairs of disjoint subsets of n out of `boots`, all of them or `most` at random. */
export function selfSplits(boots: number[], n: number, most: number, random: () => number): [number[], number[]][] {
  const all: [number[], number[]][] = [];
  for (const a of combinations(boots, n)) {
    for (const b of combinations(
      boots.filter((boot) => !a.includes(boot)),
      n,
    )) {
      if (a[0]! < b[0]!) all.push([a, b]);
    }
  }
  return sample(all, most, random).map(([a, b]) => (random() < 0.5 ? [a, b] : [b, a]));
}

export function crossSplits(
  base: number[],
  head: number[],
  n: number,
  most: number,
  random: () => number,
): [number[], number[]][] {
  const heads = combinations(head, n);
  const all = combinations(base, n).flatMap((a) => heads.map((b): [number[], number[]] => [a, b]));
  return sample(all, most, random);
}

export function sample<T>(items: T[], most: number, random: () => number): T[] {
  const pool = [...items];
  for (let i = 0; i < Math.min(most, pool.length); i++) {
    const j = i + Math.floor(random() * (pool.length - i));
    [pool[i], pool[j]] = [pool[j]!, pool[i]!];
  }
  return pool.slice(0, most);
}
