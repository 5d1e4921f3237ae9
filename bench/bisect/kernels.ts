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
    'ends s': 175,
    'search s': 124,
    'verification s': 128,
    load: '4–24',
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
  {
    host: 'qemu-tcg, git bisect run with 3 boots per step',
    seed: 42,
    'step %': '',
    'boots of both ends': 6,
    'search boots': 12,
    'verification boots': 0,
    'ends s': 95,
    'search s': 217,
    'verification s': 0,
    load: '6–21',
    answer: 'right',
  },
];

export const KERNELS_NOTE =
  'Measured on a virtual machine of two CPUs with other work beside it (`load`); one run each: `npm run demo -- --hard --seed 31`, and `--seed 42 --host qemu-tcg ' +
  '--slowdown 90`. 24 commits on Linux 6.12, one that doesn’t build, one that panics, the culprit on a merged topic branch. Times hold the kernels’ builds where they ' +
  'weren’t cached. On qemu-tcg the parent gave 29,900 to 43,000 faults/s in that time, the culprit 8,800 to 14,000; with a planted slowdown of 70 % and a build beside the ' +
  'boots an earlier search named nobody in 22 boots. `npm run bench:git-bisect` gives the same trees to `git bisect run`; it ran after kdelta, so kernels that both needed cost it no build. ' +
  'On seed 31 it takes 4 steps too (counted with stand-in boots; its wall time isn’t measured).';
