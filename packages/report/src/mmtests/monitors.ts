import type { MmtestsRun } from '@kdelta/matrix';
import { fixed } from '@kdelta/stats';

const LABEL = 23;
const CELL = 12;

/** `--print-monitor duration`: seconds of user, system and elapsed time per run. */
export function renderDuration(runs: MmtestsRun[]): string {
  const row = (label: string, key: 'user' | 'system' | 'elapsed') =>
    line(
      label,
      runs.map((run) => (run.duration ? fixed(run.duration[key], 2) : 'n/a')),
    );
  return [...heading(runs), row('User', 'user'), row('System', 'system'), row('Elapsed', 'elapsed'), ''].join('\n');
}

/** Counters of /proc/vmstat by MMTests' label; a list is summed (one counter per zone in older kernels). */
const COUNTERS: [label: string, pattern: RegExp][] = [
  ['Page Ins', /^pgpgin$/],
  ['Page Outs', /^pgpgout$/],
  ['Swap Ins', /^pswpin$/],
  ['Swap Outs', /^pswpout$/],
  ['Direct pages scanned', /^pgscan_direct(_(dma|dma32|normal|movable|high))?$/],
  ['Kswapd pages scanned', /^pgscan_kswapd(_(dma|dma32|normal|movable|high))?$/],
  ['Kswapd pages reclaimed', /^pgsteal_kswapd(_(dma|dma32|normal|movable|high))?$/],
  ['Direct pages reclaimed', /^pgsteal_direct(_(dma|dma32|normal|movable|high))?$/],
];
const LATER: [label: string, pattern: RegExp][] = [
  ['Page reclaim immediate', /^nr_vmscan_immediate_reclaim$/],
  ['Page rescued immediate', /^pgrescued$/],
  ['Slabs scanned', /^slabs_scanned$/],
  ['Direct inode steals', /^pginodesteal$/],
  ['Kswapd inode steals', /^kswapd_inodesteal$/],
  ['Kswapd skipped wait', /^kswapd_skip_congestion_wait$/],
  ['THP fault alloc', /^thp_fault_alloc$/],
  ['THP collapse alloc', /^thp_collapse_alloc$/],
  ['THP splits', /^thp_split(_page)?$/],
  ['THP fault fallback', /^thp_fault_fallback$/],
  ['THP collapse fail', /^thp_collapse_alloc_failed$/],
  ['Compaction stalls', /^compact_stall$/],
  ['Compaction success', /^compact_success$/],
  ['Compaction failures', /^compact_fail$/],
  ['Compaction pages moved', /^(compact_pages_moved|pgmigrate_success)$/],
  ['Compaction move failure', /^(compact_pagemigrate_failed|pgmigrate_fail)$/],
];

export interface ReclaimFigures {
  /** Percent of the scanned pages that were reclaimed; 100 when nothing was scanned. Not truncated. */
  kswapdEfficiency: number;
  directEfficiency: number;
  /** Pages scanned per second of the run. */
  kswapdVelocity: number;
  directVelocity: number;
  /** Percent of all scanned pages that direct reclaim scanned. */
  directScanPct: number;
}

export function reclaimFigures(run: MmtestsRun): ReclaimFigures | null {
  if (!run.vmstat || !run.duration) return null;
  const [direct, kswapd, kswapdStolen, directStolen] = [4, 5, 6, 7].map((i) => grown(run, COUNTERS[i]![1])) as number[];
  const share = (part: number, whole: number, empty: number) => (whole === 0 ? empty : (100 * part) / whole);
  return {
    kswapdEfficiency: share(kswapdStolen!, kswapd!, 100),
    directEfficiency: share(directStolen!, direct!, 100),
    kswapdVelocity: kswapd! / run.duration.elapsed,
    directVelocity: direct! / run.duration.elapsed,
    directScanPct: share(direct!, direct! + kswapd!, 0),
  };
}

/**
 * `--print-monitor vmstat`. Percentages are printed truncated, as MMTests does (99.997 → `99%`); `reclaimFigures` has
 * them in full.
 */
export function renderVmstat(runs: MmtestsRun[]): string {
  const counter = ([label, pattern]: [string, RegExp]) =>
    line(
      label,
      runs.map((run) => (run.vmstat ? String(grown(run, pattern)) : 'n/a')),
    );
  const figures = runs.map(reclaimFigures);
  const figure = (label: string, print: (f: ReclaimFigures) => string) =>
    line(
      label,
      figures.map((f) => (f ? print(f) : 'n/a')),
    );
  const writes = runs.map((run) => (run.vmstat ? [grown(run, /^nr_vmscan_write$/), grown(run, /^pswpout$/)] : null));
  return [
    ...heading(runs),
    ...COUNTERS.map(counter),
    figure('Kswapd efficiency', (f) => `${Math.trunc(f.kswapdEfficiency)}%`),
    figure('Kswapd velocity', (f) => fixed(f.kswapdVelocity, 3)),
    figure('Direct efficiency', (f) => `${Math.trunc(f.directEfficiency)}%`),
    figure('Direct velocity', (f) => fixed(f.directVelocity, 3)),
    figure('Percentage direct scans', (f) => `${Math.trunc(f.directScanPct)}%`),
    line(
      'Page writes by reclaim',
      writes.map((w) => (w ? String(w[0]) : 'n/a')),
    ),
    line(
      'Page writes file',
      writes.map((w) => (w ? String(Math.max(0, w[0]! - w[1]!)) : 'n/a')),
    ),
    line(
      'Page writes anon',
      writes.map((w) => (w ? String(w[1]) : 'n/a')),
    ),
    ...LATER.map(counter),
    '',
  ].join('\n');
}

function grown(run: MmtestsRun, pattern: RegExp): number {
  const { start, end } = run.vmstat!;
  return Object.keys(end)
    .filter((name) => pattern.test(name))
    .reduce((sum, name) => sum + end[name]! - (start[name] ?? 0), 0);
}

function heading(runs: MmtestsRun[]): string[] {
  const split = runs.map((run) => {
    const dash = run.name.indexOf('-');
    return dash < 0 ? [run.name, ''] : [run.name.slice(0, dash), run.name.slice(dash + 1)];
  });
  return [0, 1].map((i) =>
    line(
      '',
      split.map((parts) => parts[i]!),
    ),
  );
}

function line(label: string, cells: string[]): string {
  return label.padEnd(LABEL) + cells.map((cell) => (cell.length < CELL ? cell.padStart(CELL) : ` ${cell}`)).join('');
}
