/**
 * The history chart: boots as dots, each kernel's median as a line, the noise as a band, steps as marks. Drawn on canvas
 * by uPlot over the same data as the server's own drawing, which stands there until this has loaded.
 */
import uPlot from 'uplot';

interface Series {
  testcase_id: number;
  testcase: string;
  tbox_group: string;
  metric: string;
  boots: number[];
  kernels: number[];
  shas: (string | null)[];
  at: number[];
  committed: (number | null)[];
  values: number[];
  marks: {
    pair_id: number;
    verdict: string;
    change_pct: number | null;
    head_kernel_id: number;
    bisect_id: number | null;
  }[];
}

interface Kernel {
  id: number;
  sha: string | null;
  order: number;
  values: number[];
  boots: number[];
}

const chart = document.getElementById('chart');
if (chart?.dataset.api) void draw(chart, chart.dataset.api);

async function draw(root: HTMLElement, api: string): Promise<void> {
  const answer = await fetch(api, { headers: { accept: 'application/json' } });
  if (!answer.ok) return;
  const { series } = (await answer.json()) as { series: Series[] };
  const sync = uPlot.sync('history');
  // One metric on several hosts shares a chart only if the numbers are alike; so each series has its own, in step.
  root.querySelectorAll('.static').forEach((figure) => {
    // A series without numbers has no figure.
    const one = series[Number(/series-(\d+)/.exec(figure.className)?.[1])];
    if (!one?.boots.length) return;
    const holder = document.createElement('div');
    holder.className = 'live-chart';
    figure.querySelector('svg')?.replaceWith(holder);
    plot(holder, one, sync.key);
  });
}

function kernelsOf(series: Series): Kernel[] {
  const known = new Map<number, Kernel>();
  series.kernels.forEach((id, i) => {
    let kernel = known.get(id);
    if (!kernel) {
      kernel = { id, sha: series.shas[i] ?? null, order: series.committed[i] ?? series.at[i]!, values: [], boots: [] };
      known.set(id, kernel);
    }
    kernel.values.push(series.values[i]!);
    kernel.boots.push(series.boots[i]!);
  });
  return [...known.values()].sort((a, b) => a.order - b.order);
}

function plot(holder: HTMLElement, series: Series, syncKey: string): void {
  const kernels = kernelsOf(series);
  const x: number[] = [];
  const dots: (number | null)[] = [];
  const at: { kernel: Kernel; boot: number | null }[] = [];
  const median: (number | null)[] = [];
  const low: (number | null)[] = [];
  const high: (number | null)[] = [];
  const spread = pooledSd(kernels);
  kernels.forEach((kernel, k) => {
    const mid = medianOf(kernel.values);
    const push = (place: number, dot: number | null, boot: number | null, line: number | null) => {
      x.push(place);
      dots.push(dot);
      at.push({ kernel, boot });
      median.push(line);
      low.push(line === null ? null : line - 2 * spread);
      high.push(line === null ? null : line + 2 * spread);
    };
    // Boots of a kernel lie a little beside each other, in the order in which they ran; the median stands in their middle.
    const n = kernel.values.length;
    const half = n >> 1;
    kernel.values.forEach((value, i) => {
      if (i === half) push(k, n % 2 ? value : null, n % 2 ? kernel.boots[i]! : null, mid);
      if (i !== half || n % 2 === 0) push(k + (n > 1 ? (i / (n - 1) - 0.5) * 0.5 : 0), value, kernel.boots[i]!, null);
    });
  });
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  const place = new Map(kernels.map((kernel, k) => [kernel.id, k]));
  const name = (k: number) =>
    kernels[Math.round(k)]?.sha?.slice(0, 10) ?? (kernels[Math.round(k)] ? `k${kernels[Math.round(k)]!.id}` : '');

  const options: uPlot.Options = {
    width: holder.clientWidth || 800,
    // Room for the last commit's name under the axis.
    padding: [null, 48, null, null],
    height: 280,
    scales: { x: { time: false }, y: { range: (_u, min, max) => pad(min, max) } },
    legend: { show: false },
    cursor: { sync: { key: syncKey }, drag: { x: true, y: false }, points: { size: 8 } },
    axes: [
      {
        stroke: colour('--quiet'),
        grid: { stroke: colour('--line'), width: 1 },
        space: 90,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
        values: (_u, splits) => splits.map((k) => (Number.isInteger(k) ? name(k) : '')),
      },
      { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, size: 70 },
    ],
    bands: [{ series: [4, 3], fill: `color-mix(in srgb, ${colour('--accent')} 14%, transparent)` }],
    series: [
      {},
      {
        stroke: colour('--base'),
        paths: () => null,
        points: { show: true, size: 5, fill: colour('--base'), stroke: colour('--base') },
      },
      { stroke: colour('--accent'), width: 2, spanGaps: true, points: { show: false } },
      { stroke: 'transparent', spanGaps: true, points: { show: false } },
      { stroke: 'transparent', spanGaps: true, points: { show: false } },
    ],
    hooks: {
      draw: [
        (u) => {
          for (const mark of series.marks) {
            const k = place.get(mark.head_kernel_id);
            if (k === undefined) continue;
            const left = Math.round(u.valToPos(k, 'x', true));
            u.ctx.strokeStyle = colour(
              mark.verdict === 'regression' ? '--bad' : mark.verdict === 'improvement' ? '--good' : '--note',
            );
            u.ctx.lineWidth = 1.5 * devicePixelRatio;
            u.ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
            u.ctx.beginPath();
            u.ctx.moveTo(left, u.bbox.top);
            u.ctx.lineTo(left, u.bbox.top + u.bbox.height);
            u.ctx.stroke();
            u.ctx.setLineDash([]);
          }
        },
      ],
      setCursor: [
        (u) => {
          const i = u.cursor.idx;
          const point = i === null || i === undefined ? undefined : at[i];
          tip.hidden = !point;
          if (!point || i === null || i === undefined) return;
          const mark = series.marks.find((one) => one.head_kernel_id === point.kernel.id);
          tip.textContent = `${point.kernel.sha?.slice(0, 12) ?? `kernel ${point.kernel.id}`}  ${point.boot === null ? `median: ${median[i]}` : `boot ${point.boot}: ${dots[i]}`}${mark ? `  ${mark.verdict} (pair ${mark.pair_id})` : ''}`;
          tip.style.left = `${Math.min(u.cursor.left ?? 0, u.over.clientWidth - 260)}px`;
        },
      ],
    },
  };
  const data = [x, dots, median, low, high] as unknown as uPlot.AlignedData;
  const u = new uPlot(options, data, holder);
  u.over.append(tip);
  new ResizeObserver(() => u.setSize({ width: holder.clientWidth, height: 280 })).observe(holder);
  choosePoints(u, at, series);
  zoomByWheel(u, kernels.length);
}

/** Two clicked points offer what can be done between them. */
function choosePoints(u: uPlot, at: { kernel: Kernel; boot: number | null }[], series: Series): void {
  let chosen: Kernel[] = [];
  let down = 0;
  u.over.addEventListener('mousedown', (event) => {
    down = event.clientX;
  });
  u.over.addEventListener('click', (event) => {
    if (Math.abs(event.clientX - down) > 3) return;
    const i = u.cursor.idx;
    const point = i === null || i === undefined ? undefined : at[i];
    const box = document.getElementById('chosen');
    if (!point || !box) return;
    chosen =
      chosen.length >= 2 ? [point.kernel] : [...chosen.filter((kernel) => kernel !== point.kernel), point.kernel];
    chosen.sort((a, b) => a.order - b.order);
    box.replaceChildren();
    const [base, head] = chosen;
    if (!base) return;
    box.append(`chosen: ${nameOf(base)}${head ? ` … ${nameOf(head)} ` : ', click a second one'}`);
    if (!head) return;
    box.append(link('compare', `/compare?base=${base.id}&head=${head.id}&testcase=${series.testcase_id}`), ' ');
    if (base.sha && head.sha)
      box.append(
        link(
          'bisect between',
          `/bisects/new?good=${base.sha}&bad=${head.sha}&testcase=${series.testcase_id}&metric=${encodeURIComponent(series.metric)}`,
        ),
      );
  });
}

function zoomByWheel(u: uPlot, kernels: number): void {
  u.over.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const { min = 0, max = kernels } = u.scales.x as { min?: number; max?: number };
      const left = u.posToVal(u.cursor.left ?? 0, 'x');
      if (event.shiftKey) {
        const by = (max - min) * 0.1 * Math.sign(event.deltaY || event.deltaX);
        u.setScale('x', { min: min + by, max: max + by });
        return;
      }
      const factor = event.deltaY < 0 ? 0.8 : 1.25;
      u.setScale('x', { min: left - (left - min) * factor, max: left + (max - left) * factor });
    },
    { passive: false },
  );
}

const nameOf = (kernel: Kernel) => kernel.sha?.slice(0, 12) ?? `kernel ${kernel.id}`;

function link(text: string, href: string): HTMLAnchorElement {
  const a = document.createElement('a');
  a.className = 'button';
  a.textContent = text;
  a.href = href;
  return a;
}

function pad(min: number, max: number): [number, number] {
  const room = (max - min || Math.abs(max) || 1) * 0.06;
  return [min - room, max + room];
}

function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The boot-to-boot standard deviation within kernels, pooled. */
function pooledSd(kernels: Kernel[]): number {
  let squares = 0;
  let freedom = 0;
  for (const { values } of kernels) {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    for (const value of values) squares += (value - mean) ** 2;
    freedom += values.length - 1;
  }
  return freedom ? Math.sqrt(squares / freedom) : 0;
}
