import type { Delta } from '@kdelta/stats';
import { percent, probability, value } from '../numbers.ts';
import { Interval, Strip } from './strip.tsx';
import { changeText, Flags, VerdictMark } from './words.tsx';

/** ± n % of the mean, LKP's way; digits where it is small. */
function spread(stddev: number | null, mean: number | null): string {
  if (stddev === null || mean === null || mean === 0) return '';
  const pct = (100 * stddev) / Math.abs(mean);
  return `± ${pct >= 10 ? Math.round(pct) : pct >= 1 ? pct.toFixed(1) : pct.toFixed(2)} %`;
}

function Mean({ side }: { side: Delta['base'] }) {
  if (side.fails !== undefined)
    return (
      <>
        {side.fails}:{side.n}
      </>
    );
  return (
    <>
      {value(side.mean)} <small>{spread(side.stddev, side.mean)}</small>
    </>
  );
}

function ci(delta: Delta): string {
  if (!delta.ci95Pct) return '–';
  return `${percent(delta.ci95Pct[0]).replace(' %', '')} … ${percent(delta.ci95Pct[1])}`;
}

/** How sure, in one cell: p and q of the judge. */
function sure(delta: Delta): string {
  return delta.q === null ? probability(delta.p) : `${probability(delta.q)}`;
}

/** Deltas as rows; the one called `open` is followed by its details. KPI rows carry strips and intervals. */
export function DeltaTable({
  deltas,
  kind,
  open,
  details,
  hrefOf,
}: {
  deltas: Delta[];
  kind: 'kpi' | 'evidence';
  open?: string;
  details?: preact.ComponentChildren;
  /** Address of the page with this metric's row expanded (or closed again). */
  hrefOf(metric: string): string;
}) {
  const scale = Math.max(
    1,
    ...deltas.map((d) => Math.max(...(d.ci95Pct ?? [0]).map(Math.abs), Math.abs(d.changePct ?? 0))),
  );
  const kpi = kind === 'kpi';
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={kpi ? 'KPIs' : 'Evidence'}>
      <table class={`deltas ${kind}`}>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Verdict</span>
            </th>
            <th scope="col">Metric</th>
            <th scope="col" class="n">
              Base
            </th>
            <th scope="col" class="n">
              Change
            </th>
            <th scope="col" class="n">
              Head
            </th>
            <th scope="col" class="n" title="95 % interval of the change">
              95 % interval
            </th>
            {kpi ? (
              <th scope="col">
                <span class="hidden">Interval</span>
              </th>
            ) : null}
            <th scope="col" class="n" title="the smallest change that these boots could have shown">
              Detects
            </th>
            <th scope="col" class="n" title="p after the correction for many metrics">
              q
            </th>
            <th scope="col">{kpi ? 'Every boot' : 'Boots'}</th>
            <th scope="col">Flags</th>
          </tr>
        </thead>
        <tbody>
          {deltas.map((delta) => (
            <>
              <tr class={`v-${delta.verdict}${open === delta.metric ? ' open' : ''}`} id={`m-${delta.metric}`}>
                <td>
                  <VerdictMark verdict={delta.verdict} short />
                </td>
                <th scope="row" class="metric">
                  <a href={hrefOf(delta.metric)}>{delta.metric}</a>
                  {kpi && delta.unit ? <small> {delta.unit}</small> : null}
                  {kpi && delta.better ? <small class="quiet"> {delta.better} is better</small> : null}
                </th>
                <td class="n">
                  <Mean side={delta.base} />
                </td>
                <td class={`n change ${delta.verdict}`}>{changeText(delta)}</td>
                <td class="n">
                  <Mean side={delta.head} />
                </td>
                <td class="n">{ci(delta)}</td>
                {kpi ? (
                  <td>
                    <Interval ci={delta.ci95Pct} change={delta.changePct} scale={scale} />
                  </td>
                ) : null}
                <td class="n">{delta.detectablePct === null ? '–' : percent(delta.detectablePct).replace('+', '')}</td>
                <td class="n">{sure(delta)}</td>
                <td class="strips">
                  {kpi ||
                  delta.verdict === 'regression' ||
                  delta.verdict === 'improvement' ||
                  delta.verdict === 'changed' ? (
                    <Strip base={delta.base} head={delta.head} width={kpi ? 220 : 110} />
                  ) : (
                    <small class="quiet">
                      {delta.base.n} + {delta.head.n}
                    </small>
                  )}
                </td>
                <td>
                  <Flags flags={delta.flags} />
                </td>
              </tr>
              {open === delta.metric ? (
                <tr class="details" id="open">
                  <td colSpan={kpi ? 11 : 10}>{details}</td>
                </tr>
              ) : null}
            </>
          ))}
        </tbody>
      </table>
    </div>
  );
}
