import { value } from '../numbers.ts';
import type { Series } from '../series.ts';
import { DRAWING_WIDTH, Drawing } from './drawing.tsx';

/** Samples inside boots, a line per boot, all on one scale; base and head coloured as elsewhere. */
export function Lines({ lines }: { lines: (Series & { side: string })[] }) {
  const height = 140;
  const values = lines.flatMap((line) => line.values).filter(Number.isFinite);
  if (values.length === 0) return null;
  const min = values.reduce((a, b) => Math.min(a, b));
  const max = values.reduce((a, b) => Math.max(a, b));
  const timed = lines.every((line) => line.seconds !== null);
  const end = Math.max(...lines.map((line) => (timed ? line.seconds!.at(-1)! : line.values.length - 1)), 1e-9);
  const round = (v: number) => Math.round(v * 10) / 10;
  const x = (v: number) => round(4 + (v / end) * (DRAWING_WIDTH - 8));
  const y = (v: number) => round(height - 6 - ((v - min) / (max - min || 1)) * (height - 12));
  const points = (line: Series) =>
    thinned(line.values.map((v, i): [number, number] => [timed ? line.seconds![i]! : i, v]))
      .map(([at, v]) => `${x(at)},${y(v)}`)
      .join(' ');
  return (
    <Drawing
      kind="dots lines"
      height={height}
      what={`samples of ${lines.length} boots`}
      min={min}
      max={max}
      under={timed ? `${value(end)} s, left to right` : `${end + 1} samples, left to right`}
    >
      {lines.map((line) => (
        <polyline class={line.side} points={points(line)}>
          <title>
            boot {line.boot}, {line.side}
          </title>
        </polyline>
      ))}
    </Drawing>
  );
}

/** At most 240 points: of each stretch its smallest and its largest, so that no spike is lost. */
function thinned(points: [number, number][]): [number, number][] {
  const stretch = Math.ceil(points.length / 120);
  if (stretch <= 2) return points.filter(([, v]) => Number.isFinite(v));
  const kept: [number, number][] = [];
  for (let from = 0; from < points.length; from += stretch) {
    const some = points.slice(from, from + stretch).filter(([, v]) => Number.isFinite(v));
    if (some.length === 0) continue;
    const low = some.reduce((a, b) => (b[1] < a[1] ? b : a));
    const high = some.reduce((a, b) => (b[1] > a[1] ? b : a));
    kept.push(...(low[0] <= high[0] ? [low, high] : [high, low]));
  }
  return kept;
}
