import { DRAWING_WIDTH, Drawing } from './drawing.tsx';

export interface HistoryPoint {
  boot_id: number;
  value: number;
  kernel_id: number;
}

/** A small history: every boot as a dot in boot order, those of a pair coloured, with the range written at the side. */
export function Dots({ points, marks }: { points: HistoryPoint[]; marks: { id: number; side: string }[] }) {
  const height = 120;
  const values = points.map((point) => point.value);
  const min = Math.min(...values);
  const max = Math.max(...values);
  const span = max - min || 1;
  const sides = new Map(marks.map((mark) => [mark.id, mark.side]));
  const x = (i: number) => Math.round((6 + (i / Math.max(1, points.length - 1)) * (DRAWING_WIDTH - 12)) * 10) / 10;
  const y = (v: number) => Math.round((height - 8 - ((v - min) / span) * (height - 16)) * 10) / 10;
  return (
    <Drawing kind="dots" height={height} what={`${points.length} boots`} min={min} max={max}>
      {points.map((point, i) => (
        // A line without length and with round ends stays round however the drawing is stretched.
        <path class={sides.get(point.boot_id) ?? 'other'} d={`M${x(i)} ${y(point.value)}h0`} />
      ))}
    </Drawing>
  );
}
