import type { Delta } from '@kdelta/stats';
import { renderToString } from 'preact-render-to-string';
import { percent, probability, value } from '../numbers.ts';
import { esc } from './html.ts';
import { interval, strip } from './strip.ts';
import { changeText, FLAG_MEANING, VERDICT_MARKS } from './words.tsx';

interface Props {
  deltas: Delta[];
  kind: 'kpi' | 'evidence';
  /** The metric whose row is followed by `details`. */
  open?: string;
  details?: preact.ComponentChildren;
  /** Address of the page with this metric's row expanded (or closed again). */
  hrefOf(metric: string): string;
}

/** Deltas as rows. KPI rows carry units, intervals and wide strips. */
export function DeltaTable({ deltas, kind, open, details, hrefOf }: Props) {
  const kpi = kind === 'kpi';
  const scale = Math.max(
    1,
    ...deltas.map((d) => Math.max(...(d.ci95Pct ?? [0]).map(Math.abs), Math.abs(d.changePct ?? 0))),
  );
  const rows = deltas.map((delta) => {
    const own = row(delta, kpi, scale, hrefOf(delta.metric), open === delta.metric);
    if (open !== delta.metric) return own;
    return `${own}<tr class="details" id="open"><td colspan="${kpi ? 11 : 10}">${renderToString(<div>{details}</div>)}</td></tr>`;
  });
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
            <th scope="col">{kpi ? 'Every boot: base above head' : 'Boots'}</th>
            <th scope="col">Flags</th>
          </tr>
        </thead>
        {/* made by row(), which escapes; see parts/html.ts */}
        <tbody dangerouslySetInnerHTML={{ __html: rows.join('') }} />
      </table>
    </div>
  );
}

function row(delta: Delta, kpi: boolean, scale: number, href: string, open: boolean): string {
  const { verdict, metric, base, head } = delta;
  const facts = kpi
    ? `${delta.unit ? ` <small>${esc(delta.unit)}</small>` : ''}${delta.better ? ` <small class="quiet">${delta.better} is better</small>` : ''}`
    : '';
  const shown = kpi || verdict === 'regression' || verdict === 'improvement' || verdict === 'changed';
  const boots = shown ? strip(base, head, kpi ? 220 : 110) : `<small class="quiet">${base.n} + ${head.n}</small>`;
  const detects = delta.detectablePct === null ? '–' : percent(delta.detectablePct).replace('+', '');
  return [
    `<tr class="v-${verdict}${open ? ' open' : ''}" id="m-${esc(metric)}">`,
    `<td><span class="verdict ${verdict}" title="${verdict}"><i aria-hidden="true">${VERDICT_MARKS[verdict]}</i><span class="hidden">${verdict}</span></span></td>`,
    `<th scope="row" class="metric"><a href="${esc(href)}">${esc(metric)}</a>${facts}</th>`,
    `<td class="n">${mean(base)}</td>`,
    `<td class="n change ${verdict}">${esc(changeText(delta))}</td>`,
    `<td class="n">${mean(head)}</td>`,
    `<td class="n">${ci(delta)}</td>`,
    kpi ? `<td>${interval(delta.ci95Pct, delta.changePct, scale)}</td>` : '',
    `<td class="n">${detects}</td>`,
    `<td class="n">${probability(delta.q ?? delta.p)}</td>`,
    `<td class="strips">${boots}</td>`,
    `<td>${delta.flags.map((flag) => `<span class="flag f-${esc(flag)}" title="${esc(FLAG_MEANING[flag] ?? '')}">${esc(flag)}</span>`).join('')}</td></tr>`,
  ].join('');
}

/** The mean and ± n % of it, LKP's way; for function metrics in how many of the boots it occurred. */
function mean(side: Delta['base']): string {
  if (side.fails !== undefined) return `${side.fails}:${side.n}`;
  return `${value(side.mean)} <small>${spread(side.stddev, side.mean)}</small>`;
}

function spread(stddev: number | null, mean: number | null): string {
  if (stddev === null || mean === null || mean === 0) return '';
  const pct = (100 * stddev) / Math.abs(mean);
  return `± ${pct >= 10 ? Math.round(pct) : pct >= 1 ? pct.toFixed(1) : pct.toFixed(2)} %`;
}

function ci(delta: Delta): string {
  if (!delta.ci95Pct) return '–';
  return `${percent(delta.ci95Pct[0]).replace(' %', '')} … ${percent(delta.ci95Pct[1])}`;
}
