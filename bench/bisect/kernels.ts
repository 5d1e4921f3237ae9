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
    seed: 42,
    'step %': '-68.3 [-78.0, -54.2]',
    'boots of both ends': '6, later 2',
    'search boots': 5,
    'verification boots': '6, revert 1',
    'ends s': 39,
    'search s': 205,
    'verification s': 171,
    load: '22–32',
    answer: 'right; the revert showed neither level clearly',
  },
];

export const KERNELS_NOTE =
  'Measured on a virtual machine of two CPUs with other work beside it (`load`); one run each: `npm run demo -- --hard --seed 31`, and `--seed 42 --host qemu-tcg ' +
  '--slowdown 90`. 24 commits on Linux 6.12, one that doesn’t build, one that panics, the culprit on a merged topic branch. Times hold the kernels’ builds where they ' +
  'weren’t cached. On qemu-tcg the parent gave 29,900 to 43,000 faults/s in that time, the culprit 8,800 to 14,000; with a planted slowdown of 70 % and a build beside the ' +
  'boots an earlier search named nobody in 22 boots. `npm run bench:git-bisect` gives the same trees to `git bisect run`; on seed 31 it takes 4 steps, so 6 + 12 boots with 3 per step ' +
  'and no verification (steps counted with stand-in boots; its wall time isn’t measured).';
