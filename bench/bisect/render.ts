import { KERNELS, KERNELS_NOTE } from './kernels.ts';
import { type Rows, SECTIONS } from './sections.ts';

const TITLES: Record<string, string> = {
  accuracy: 'Gaussian noise, 1,000 commits, nothing known before',
  history: 'The same with 20 degrees of freedom of noise history and 5 + 5 boots of the pair, which are not counted',
  rivals: 'Rivals on the same seeds',
  calibration: 'Calibration: stated certainty and share right, d = 2',
  null: 'Ranges without a step, budget 200 boots',
  two: 'Two steps of d = 2 in one range',
  untestable: '15 % untestable commits in clusters, d = 2',
  graph: 'Histories of 2,000 commits, topic branches three deep, d = 2',
  real: 'A real bisect job of Chromium, its runs in random orders (measured data)',
  speed: 'Time of one update and choice (measured)',
  kernels: 'Real kernels (measured)',
};

export function renderTables(sections: Record<string, Rows>): string {
  const parts = [
    '# Bisect: simulation',
    '',
    'Made by `npm run bench:bisect`. All boots here are simulated, with fixed seeds, unless a heading says otherwise. d is the step in standard',
    'deviations of one boot. The limit is (1−δ)·log₂n/C(d) + 4·ln(1/δ)/d² with δ = 0.05: what a searcher needs that knows both levels and',
    'the spread. "Search" counts boots after the ends were confirmed, "all" counts the ends’ boots too; verification is not in it. Rivals start',
    'from 5-boot ends, the sequential test from ⌈24/d²⌉, Pinpoint from its own 20.',
    '',
    '![boots and share right](bisect-bench.svg)',
    '',
  ];
  for (const [name, title] of Object.entries(TITLES)) {
    const rows = name === 'kernels' ? KERNELS : rowsOf(sections, name);
    if (rows.length === 0) continue;
    const columns = Object.keys(rows[0]!);
    parts.push(`## ${title}`, '', `| ${columns.join(' | ')} |`, `|${columns.map(() => '---').join('|')}|`);
    for (const row of rows) parts.push(`| ${columns.map((c) => row[c] ?? '').join(' | ')} |`);
    parts.push('');
    if (name === 'kernels') parts.push(KERNELS_NOTE, '');
  }
  return parts.join('\n');
}

/** The rows of a table, of all its parts in order. */
function rowsOf(sections: Record<string, Rows>, table: string): Rows {
  const parts = Object.keys(SECTIONS).filter((name) => name.split(' ')[0] === table);
  return (parts.length === 0 ? [table] : parts).flatMap((name) => sections[name] ?? []);
}

const COLOURS = ['#1b6ca8', '#5aa9e6', '#8c6d31', '#bd9e39', '#9c4f96', '#c44e52', '#55a868'];
const [WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H] = [760, 440, 60, 30, 440, 350];

/** Boots (logarithmic) against the share right: one line per searcher, one point per d. */
export function renderPlot(sections: Record<string, Rows>): string {
  const rows = ['accuracy', 'history', 'rivals'].flatMap((table) => rowsOf(sections, table));
  const searchers = [...new Set(rows.map((r) => String(r.searcher)))];
  const x = (boots: number) => LEFT + (PLOT_W * Math.log(boots / 10)) / Math.log(60);
  const y = (right: number) => TOP + PLOT_H * (1 - right / 100);
  const out = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>Boots and share of right culprits, simulated, 1,000 commits, d = 1 to 3</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
  ];
  for (const boots of [10, 20, 50, 100, 200, 500])
    out.push(
      `<line x1="${x(boots)}" x2="${x(boots)}" y1="${TOP}" y2="${TOP + PLOT_H}" stroke="#ddd"/>`,
      `<text x="${x(boots)}" y="${TOP + PLOT_H + 16}" text-anchor="middle">${boots}</text>`,
    );
  for (const right of [0, 20, 40, 60, 80, 95, 100])
    out.push(
      `<line x1="${LEFT}" x2="${LEFT + PLOT_W}" y1="${y(right)}" y2="${y(right)}" stroke="${right === 95 ? '#888' : '#ddd'}"/>`,
      `<text x="${LEFT - 6}" y="${y(right) + 4}" text-anchor="end">${right} %</text>`,
    );
  out.push(
    `<text x="${LEFT + PLOT_W / 2}" y="${HEIGHT - 20}" text-anchor="middle">boots, ends included (simulated, 1,000 commits)</text>`,
  );
  searchers.forEach((searcher, i) => {
    const points = rows.filter((r) => r.searcher === searcher);
    const colour = COLOURS[i % COLOURS.length];
    const at = points.map((p) => `${x(Number(p['all boots'])).toFixed(1)},${y(Number(p['right %'])).toFixed(1)}`);
    out.push(`<polyline points="${at.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    points.forEach((p, k) => {
      const [px, py] = at[k]!.split(',').map(Number);
      out.push(
        `<circle cx="${px}" cy="${py}" r="4" fill="${colour}"><title>${searcher}, d = ${p.d}: ${p['right %']} %, ${p['all boots']} boots</title></circle>`,
      );
    });
    out.push(
      `<rect x="${LEFT + PLOT_W + 24}" y="${TOP + i * 22}" width="12" height="12" fill="${colour}"/>`,
      `<text x="${LEFT + PLOT_W + 42}" y="${TOP + i * 22 + 11}">${searcher}</text>`,
    );
  });
  out.push(
    `<text x="${LEFT + PLOT_W + 24}" y="${TOP + searchers.length * 22 + 14}">points from right to left: d = 1, 1.5, 2, 3</text>`,
    '</svg>',
  );
  return `${out.join('\n')}\n`;
}
