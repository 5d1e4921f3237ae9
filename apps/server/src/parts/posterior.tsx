import { shortSha } from '../numbers.ts';

export interface StripCommit {
  sha: string;
  subject: string;
  p: number;
}

/**
 * The range of a bisect as a strip, oldest commit left, with the probability of each commit over it. Wide ranges are
 * drawn in bins; a bin carries its largest commit's title.
 */
export function PosteriorStrip({
  commits,
  probes,
  untestable,
  culprit,
}: {
  commits: StripCommit[];
  probes: { sha: string; seq: number; state: string }[];
  untestable: Set<string>;
  culprit: string | null;
}) {
  const bins = Math.min(commits.length, 400);
  if (bins === 0) return null;
  const width = 1000;
  const step = width / bins;
  const bars = Array.from({ length: bins }, (_, i) => {
    const from = Math.floor((i * commits.length) / bins);
    const to = Math.max(from + 1, Math.floor(((i + 1) * commits.length) / bins));
    const own = commits.slice(from, to);
    const best = own.reduce((a, b) => (b.p > a.p ? b : a));
    return {
      p: own.reduce((sum, commit) => sum + commit.p, 0),
      best,
      untestable: own.some((commit) => untestable.has(commit.sha)),
      culprit: own.some((commit) => commit.sha === culprit),
    };
  });
  const most = Math.max(0.0001, ...bars.map((bar) => bar.p));
  const place = new Map(commits.map((commit, i) => [commit.sha, ((i + 0.5) / commits.length) * width]));
  const gap = step > 6 ? 1 : 0;
  return (
    <svg class="posterior" viewBox="0 0 1000 112" preserveAspectRatio="none" role="img" aria-label={describe(commits)}>
      {bars.map((bar, i) => {
        const height = Math.max(bar.p > 0.001 ? 1.5 : 0, (bar.p / most) * 80);
        return (
          <g class={bar.culprit ? 'bar culprit' : bar.untestable ? 'bar untestable' : 'bar'}>
            <title>{`${shortSha(bar.best.sha)} ${bar.best.subject}: ${(bar.p * 100).toFixed(1)} %`}</title>
            <rect class="slot" x={r(i * step)} y="0" width={r(Math.max(step - gap, 0.8))} height="84" />
            <rect
              class="p"
              x={r(i * step)}
              y={r(84 - height)}
              width={r(Math.max(step - gap, 0.8))}
              height={r(height)}
            />
          </g>
        );
      })}
      <line class="axis" x1="0" x2="1000" y1="84.5" y2="84.5" />
      {probes.map((probe) => {
        const x = place.get(probe.sha);
        return x === undefined ? null : (
          <g class={`probe p-${probe.state}`}>
            <title>{`probe ${probe.seq}: ${shortSha(probe.sha)} (${probe.state})`}</title>
            <line x1={r(x)} x2={r(x)} y1="85" y2="100" />
          </g>
        );
      })}
    </svg>
  );
}

function describe(commits: StripCommit[]): string {
  const best = commits.toSorted((a, b) => b.p - a.p).slice(0, 3);
  return `Probability of being the culprit: ${best.map((c) => `${shortSha(c.sha)} ${(c.p * 100).toFixed(1)} %`).join(', ')}`;
}

/** A small posterior for a table row. */
export function Spark({ commits, posterior }: { commits: StripCommit[]; posterior: Record<string, number> | null }) {
  if (!posterior || commits.length === 0) return <span class="quiet">–</span>;
  const width = 160;
  const bins = Math.min(commits.length, 80);
  const sums = new Array<number>(bins).fill(0);
  commits.forEach((commit, i) => {
    sums[Math.floor((i * bins) / commits.length)]! += posterior[commit.sha] ?? 0;
  });
  const most = Math.max(0.0001, ...sums);
  const step = width / bins;
  const path = sums
    .map(
      (p, i) =>
        `M${r(i * step)} 22h${r(Math.max(step - 0.4, 0.6))}v${r(-(p / most) * 20)}h${r(-Math.max(step - 0.4, 0.6))}z`,
    )
    .join('');
  return (
    <svg class="spark" viewBox={`0 0 ${width} 24`} width={width} height="24" aria-hidden="true">
      <line class="axis" x1="0" x2={width} y1="22.5" y2="22.5" />
      <path d={path} />
    </svg>
  );
}

const r = (v: number) => Math.round(v * 10) / 10;
