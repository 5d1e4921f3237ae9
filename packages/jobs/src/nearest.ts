/**
 * The known words that `word` was probably meant to be, best first: edit distance (Levenshtein 1966) of at most a third
 * of the longer word, or one being the beginning of the other.
 */
export function nearest(word: string, known: Iterable<string>, atMost = 3): string[] {
  const lower = word.toLowerCase();
  return [...known]
    .map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        distance <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3)) ||
        (lower.length >= 3 && (candidate.toLowerCase().startsWith(lower) || lower.startsWith(candidate.toLowerCase()))),
    )
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, atMost)
    .map(({ candidate }) => candidate);
}

/** `; did you mean X or Y?`, or what there is when nothing is near. */
export function suggestion(word: string, known: Iterable<string>): string {
  const all = [...known].sort();
  const near = nearest(word, all);
  if (near.length > 0) return `; did you mean ${near.join(' or ')}?`;
  return all.length === 0 ? '' : `; known: ${all.slice(0, 12).join(', ')}${all.length > 12 ? ', …' : ''}`;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    previous = row;
  }
  return previous[b.length]!;
}
