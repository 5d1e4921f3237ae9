import { value } from '../../numbers.ts';
import { Dots } from '../../parts/dots.tsx';
import { Lines } from '../../parts/lines.tsx';
import { Empty, Time } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { MetricDetails, PairPage } from './data.ts';

/** An expanded row: raw numbers in boot order, and this metric's history on this host group. */
export function MetricDetail({ data, detail, now }: { data: PairPage; detail: MetricDetails; now: Date }) {
  const { pair } = data;
  return (
    <div class="metric-detail">
      <div>
        <h3>Boot by boot</h3>
        <table class="raw">
          <thead>
            <tr>
              <th scope="col">Boot</th>
              <th scope="col">Kernel</th>
              <th scope="col" class="n">
                Value
              </th>
              <th scope="col">Ran</th>
            </tr>
          </thead>
          <tbody>
            {detail.boots.map((boot) => (
              <tr class={`side-${boot.side}`}>
                <td>
                  <a href={urls.boot(boot.id)}>{boot.id}</a>
                </td>
                <td>{boot.side}</td>
                <td class="n" title={boot.value === null ? undefined : String(boot.value)}>
                  {value(boot.value)}
                </td>
                <td>
                  <Time at={boot.started_at} now={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="grow">
        <h3>Before, on {pair.tbox_group}</h3>
        {detail.history.length ? (
          <Dots points={detail.history} marks={detail.boots.map((boot) => ({ id: boot.id, side: boot.side }))} />
        ) : (
          <Empty>No earlier boot of this testcase has this metric.</Empty>
        )}
        {detail.series.length ? (
          <>
            <h3>Inside the boots</h3>
            <Lines lines={detail.series} />
          </>
        ) : null}
        <p class="actions">
          <a
            href={urls.history({
              testcase: pair.testcase_id,
              metric: detail.metric,
              tree: pair.tree,
              branch: pair.branch,
            })}
          >
            History
          </a>
          {pair.tree && pair.base.sha && pair.head.sha ? (
            <a href={urls.newBisect({ pair: pair.id, metric: detail.metric })}>Bisect this metric</a>
          ) : null}
          <a href={urls.v1(`pairs/${pair.id}?q=${encodeURIComponent(detail.metric)}`)}>JSON</a>
          {detail.raw ? <a href={urls.boot(detail.raw)}>raw files of a boot</a> : null}
        </p>
      </div>
    </div>
  );
}
