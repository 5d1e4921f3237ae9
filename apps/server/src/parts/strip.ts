import type { Side } from '@kdelta/stats';
import { value } from '../numbers.ts';

/**
 * Every boot of both kernels on one scale, base above head, with the means as ticks. Drawn as an SVG of attributes: the
 * page's policy allows no inline style. Boots of equal value lie on each other, so dots are translucent.
 */
export function strip(base: Side, head: Side, width: number): string {
  const all = [...base.values, ...head.values].filter((x): x is number => x !== null);
  if (all.length === 0) return '<span class="quiet">no numbers</span>';
  const min = Math.min(...all);
  const span = Math.max(...all) - min;
  const x = (v: number) => (span === 0 ? width / 2 : round(5 + ((v - min) / span) * (width - 10)));
  const dots = (side: Side, y: number, kind: string) => {
    const mean =
      side.mean === null ? '' : `<line x1="${x(side.mean)}" x2="${x(side.mean)}" y1="${y - 7}" y2="${y + 7}"/>`;
    const circles = side.values.map((v) => (v === null ? '' : `<circle cx="${x(v)}" cy="${y}" r="3"/>`)).join('');
    return `<g class="${kind}">${mean}${circles}</g>`;
  };
  const label = `boots of base ${list(base)}; of head ${list(head)}`;
  return `<svg class="strip" viewBox="0 0 ${width} 32" width="${width}" height="32" role="img" aria-label="${label}">${dots(base, 9, 'base')}${dots(head, 23, 'head')}</svg>`;
}

/** The interval of a change around zero, on a scale that all rows of a table share. */
export function interval(ci: [number, number] | null, change: number | null, scale: number): string {
  if (change === null) return '';
  const width = 120;
  const x = (v: number) => round(width / 2 + Math.max(-1, Math.min(1, v / scale)) * (width / 2 - 4));
  const bar = ci ? `<line class="ci" x1="${x(ci[0])}" x2="${x(ci[1])}" y1="8" y2="8"/>` : '';
  return `<svg class="interval" viewBox="0 0 ${width} 16" width="${width}" height="16" aria-hidden="true"><line class="zero" x1="60" x2="60" y1="0" y2="16"/>${bar}<circle cx="${x(change)}" cy="8" r="3"/></svg>`;
}

const round = (v: number) => Math.round(v * 10) / 10;
const list = (side: Side) => side.values.map((v) => value(v)).join(' ');
