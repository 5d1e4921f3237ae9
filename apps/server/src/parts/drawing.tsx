import type { ComponentChildren } from 'preact';
import { value } from '../numbers.ts';

export const DRAWING_WIDTH = 720;

/** An SVG as wide as its place, with the range of what it shows at its side and perhaps a line under it. */
export function Drawing(of: {
  kind: string;
  height: number;
  /** What it shows, for those who don't see it. */
  what: string;
  min: number;
  max: number;
  under?: string;
  children: ComponentChildren;
}) {
  return (
    <figure class={of.kind}>
      <svg
        viewBox={`0 0 ${DRAWING_WIDTH} ${of.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${of.what}, from ${value(of.min)} to ${value(of.max)}`}
      >
        {of.children}
      </svg>
      <figcaption>
        <span>{value(of.max)}</span>
        <span>{value(of.min)}</span>
      </figcaption>
      {of.under === undefined ? null : <p class="quiet">{of.under}</p>}
    </figure>
  );
}
