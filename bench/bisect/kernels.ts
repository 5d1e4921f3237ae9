import type { Rows } from './sections.ts';

/**
 * Measured by hand, not by bench:bisect: `npm run demo -- --hard --seed N --host HOST [--slowdown PCT]`. 24 commits on Linux 6.12, one that doesn't build,
 * one that panics, the culprit on a merged topic branch.
 */
export const KERNELS: Rows = [
  {
    host: 'qemu-icount',
    seed: 31,
    'step %': -45.1,
    'boots of both ends': 6,
    'search boots': 4,
    'verification boots': '6, revert 1',
    'ends s': 252,
    'search s': 254,
    'verification s': 191,
    'load (2 CPUs)': '5–12',
    answer: 'right, reverted',
  },
];
