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
    load: '5–12',
    answer: 'right; with it reverted, bad shows the old level',
  },
  {
    host: 'qemu-tcg',
    seed: 32,
    'step %': '-42.1 [-56.1, -23.5]',
    'boots of both ends': 18,
    'search boots': '22, then interrupted',
    'verification boots': 0,
    'ends s': 276,
    'search s': 444,
    'verification s': 0,
    load: '6–10',
    answer: 'none yet (likeliest 16 %)',
  },
];

export const KERNELS_NOTE =
  'Measured on a virtual machine of two CPUs with other work beside it (`load`); one run each: `npm run demo -- --hard --seed 31`, and `--seed 32 --host qemu-tcg ' +
  '--slowdown 70`. 24 commits on Linux 6.12, one that doesn’t build, one that panics, the culprit on a merged topic branch. On qemu-tcg boots of one kernel gave 13,000 ' +
  'to 35,000 faults/s under that load, more than the step; the search named nobody. Kernels were still built beside those boots, which kdelta no longer does. ' +
  '`npm run bench:git-bisect` gives the same trees to `git bisect run`; on seed 31 it takes 4 steps, so 6 + 12 boots with 3 per step and no verification (steps counted with stand-in ' +
  'boots; its wall time isn’t measured).';
