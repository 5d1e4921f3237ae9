/** A one-way layout's variance, in the square of the values' unit. */
export interface Components {
  mean: number;
  /** Variance within groups (the mean square of the error). */
  within: number;
  /** Variance of the groups' true means; 0 where they scatter no more than `within` makes them. */
  between: number;
}

/**
 * Splits the variance of groups of numbers into what lies within and what lies between them, by the analysis of variance
 * (Searle, Casella & McCulloch 1992, section 3.6): within = MSE, between = (MSA − MSE)/n₀ with
 * n₀ = (N − Σnᵢ²/N)/(a − 1). Groups may differ in size; two groups and one group of two numbers at least.
 */
export function varianceComponents(groups: readonly (readonly number[])[]): Components {
  const total = groups.reduce((sum, group) => sum + group.length, 0);
  const df = total - groups.length;
  if (groups.length < 2 || df < 1 || groups.some((group) => group.length === 0))
    throw new RangeError('expected two groups or more, none empty, one of them of two numbers or more');
  const sumOf = (group: readonly number[]) => group.reduce((sum, value) => sum + value, 0);
  const mean = groups.reduce((sum, group) => sum + sumOf(group), 0) / total;
  let error = 0;
  let among = 0;
  let sizes = 0;
  for (const group of groups) {
    const level = sumOf(group) / group.length;
    for (const value of group) error += (value - level) ** 2;
    among += group.length * (level - mean) ** 2;
    sizes += group.length ** 2;
  }
  const within = error / df;
  const size = (total - sizes / total) / (groups.length - 1);
  return { mean, within, between: Math.max(0, (among / (groups.length - 1) - within) / size) };
}
