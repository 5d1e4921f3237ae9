import { value } from '../../numbers.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { Commit, Empty, VerdictMark } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { HistoryPage, HistoryQuery, Series } from './data.ts';
import { byKernel, type KernelPoint } from './kernels.ts';

export function renderHistory(frame: Frame, data: HistoryPage, query: HistoryQuery): string {
  const api = urls.v1(
    `history${urls.history({ testcase: data.chosen.map((one) => one.id).join(','), metric: data.names.join(','), tree: query.tree, branch: query.branch, limit: query.limit === 10_000 ? null : query.limit }).replace('/history', '')}`,
  );
  return page(frame, {
    title: `History ${data.names.join(', ')}`,
    script: 'history.js',
    children: (
      <>
        <h1>History</h1>
        <form class="filters" method="get" action={urls.history()}>
          <select name="testcase" aria-label="Testcase">
            {data.testcases.map((one) => (
              <option value={one.id} selected={data.chosen.some((chosen) => chosen.id === one.id)}>
                {one.name} on {one.tbox_group} ({one.boots})
              </option>
            ))}
          </select>
          <input
            name="metric"
            list="metrics"
            size={40}
            value={data.names.join(',')}
            aria-label="Metrics, separated by commas"
            data-hotkey="/"
          />
          <datalist id="metrics">
            {data.metrics.slice(0, 500).map((metric) => (
              <option value={metric.name} />
            ))}
          </datalist>
          <input name="tree" placeholder="tree" value={query.tree} aria-label="Tree" size={10} />
          <input
            name="branch"
            placeholder="branches"
            value={query.branch}
            aria-label="Branches, separated by commas"
            size={12}
          />
          <button type="submit">Show</button>
          <a href={api}>JSON</a>
        </form>
        {data.testcases.length > 1 ? <Overlay data={data} query={query} /> : null}
        {data.series.length ? (
          <div class="chart" id="chart" data-api={api}>
            {data.series.map((series, i) => (
              <StaticChart series={series} n={i} />
            ))}
          </div>
        ) : (
          <Empty>No testcase has boots yet.</Empty>
        )}
        <p class="quiet hint">
          dots: boots; line: median of each kernel; band: ± 2 standard deviations between boots of one kernel; drag to
          zoom, double-click for all, click two points to compare or bisect between them
        </p>
        <div id="chosen" aria-live="polite" />
        {data.series.map((series) => (
          <Kernels series={series} tree={query.tree} />
        ))}
      </>
    ),
  });
}

function Overlay({ data, query }: { data: HistoryPage; query: HistoryQuery }) {
  const first = data.chosen[0];
  const ids = new Set(data.chosen.map((one) => one.id));
  const others = data.testcases.filter((one) => one.program === first?.program);
  return (
    <p class="overlay">
      <span class="quiet">overlay:</span>{' '}
      {others.map((one) => {
        const next = ids.has(one.id) ? [...ids].filter((id) => id !== one.id) : [...ids, one.id];
        return (
          <a
            href={urls.history({
              testcase: next.join(',') || String(one.id),
              metric: data.names.join(','),
              tree: query.tree,
              branch: query.branch,
            })}
            aria-current={ids.has(one.id) ? 'true' : undefined}
          >
            {one.name} on {one.tbox_group}
          </a>
        );
      })}
    </p>
  );
}

/** Without JavaScript: the same dots, line and band as an SVG; at most 3,000 dots. */
function StaticChart({ series, n }: { series: Series; n: number }) {
  const points = byKernel(series);
  if (!points.length)
    return (
      <Empty>
        {series.metric} has no number at {series.testcase} on {series.tbox_group}.
      </Empty>
    );
  const width = 1000;
  const height = 260;
  const min = Math.min(...points.map((point) => point.min));
  const max = Math.max(...points.map((point) => point.max));
  const x = (i: number) => r(6 + (points.length === 1 ? 0.5 : i / (points.length - 1)) * (width - 12));
  const y = (v: number) => r(height - 8 - ((v - min) / (max - min || 1)) * (height - 16));
  const place = new Map(points.map((point, i) => [point.kernel_id, i]));
  const step = Math.max(1, Math.ceil(series.values.length / 3000));
  const dots = series.values.flatMap((v, i) => (i % step ? [] : [`M${x(place.get(series.kernels[i]!)!)} ${y(v)}h0`]));
  return (
    <figure class={`static series-${n}`}>
      <figcaption>
        {series.metric}{' '}
        <span class="quiet">
          {series.testcase} on {series.tbox_group}
          {series.branch === undefined ? '' : `, branch ${series.branch}`}, {series.values.length} boots of{' '}
          {points.length} kernels, {value(min)} … {value(max)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${series.metric} over ${points.length} kernels`}
      >
        {series.marks.map((mark) => {
          const at = place.get(mark.head_kernel_id);
          return at === undefined ? null : (
            <a href={urls.pair(mark.pair_id)}>
              <line class={`mark ${mark.verdict}`} x1={x(at)} x2={x(at)} y1="0" y2={height} />
            </a>
          );
        })}
        <path class="dot" d={dots.join('')} />
        <path class="median" d={points.map((point, i) => `${i ? 'L' : 'M'}${x(i)} ${y(point.median)}`).join('')} />
      </svg>
    </figure>
  );
}

function Kernels({ series, tree }: { series: Series; tree?: string }) {
  const points = byKernel(series).toReversed();
  const marks = new Map(series.marks.map((mark) => [mark.head_kernel_id, mark]));
  const row = (point: KernelPoint) => {
    const mark = marks.get(point.kernel_id);
    return (
      <tr>
        <td>
          {point.sha ? <Commit sha={point.sha} /> : null}{' '}
          <a class="quiet" href={urls.kernel(point.kernel_id)}>
            kernel {point.kernel_id}
          </a>
        </td>
        <td class="n">{point.n}</td>
        <td class="n">{value(point.median)}</td>
        <td class="n">{value(point.stddev)}</td>
        <td class="n">
          {value(point.min)} … {value(point.max)}
        </td>
        <td>
          {mark ? (
            <>
              <VerdictMark verdict={mark.verdict} /> <a href={urls.pair(mark.pair_id)}>pair {mark.pair_id}</a>{' '}
              {mark.bisect_id ? <a href={urls.bisect(mark.bisect_id)}>bisect</a> : null}{' '}
              {mark.report_id ? <a href={urls.report(mark.report_id)}>report</a> : null}
            </>
          ) : null}
        </td>
      </tr>
    );
  };
  if (!points.length) return null;
  void tree;
  return (
    <details open={series.marks.length > 0 || points.length < 30}>
      <summary>
        {series.metric} on {series.tbox_group}
        {series.branch === undefined ? '' : `, branch ${series.branch},`} by kernel, newest first
      </summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${series.metric} by kernel`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Kernel</th>
              <th scope="col" class="n">
                Boots
              </th>
              <th scope="col" class="n">
                Median
              </th>
              <th scope="col" class="n">
                Std. dev.
              </th>
              <th scope="col" class="n">
                Range
              </th>
              <th scope="col">Step</th>
            </tr>
          </thead>
          <tbody>{points.slice(0, 200).map(row)}</tbody>
        </table>
      </div>
    </details>
  );
}

const r = (v: number) => Math.round(v * 10) / 10;
