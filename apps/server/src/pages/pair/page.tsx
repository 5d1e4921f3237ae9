import type { Delta } from '@kdelta/stats';
import type { PairBoot } from '@kdelta/store';
import type { DeltaQuery } from '../../deltas.ts';
import { seconds, shortSha, value } from '../../numbers.ts';
import { DeltaTable } from '../../parts/deltaTable.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import {
  Commit,
  Empty,
  FailureBox,
  FLAG_MEANING,
  KernelName,
  ProgressBar,
  StateMark,
  Time,
  VerdictMark,
} from '../../parts/words.tsx';
import { type Query, urls } from '../../urls.ts';
import { type MetricDetails, type PairPage, ROWS_PER_PAGE } from './data.ts';
import { MetricDetail } from './metric.tsx';

/** The page a mail links to: the verdict, the KPIs, the evidence, and what is needed to disbelieve it. */
export function renderPair(
  frame: Frame,
  data: PairPage,
  query: DeltaQuery & { m?: string },
  detail: MetricDetails | null,
): string {
  const { pair } = data;
  const { m: _m, ...filters } = query;
  const hrefOf = (metric: string) =>
    query.m === metric ? urls.pair(pair.id, filters) : `${urls.pair(pair.id, { ...filters, m: metric })}#open`;
  const details = detail ? <MetricDetail data={data} detail={detail} now={frame.now} /> : null;
  const title = `${pair.verdict ?? pair.state}: ${shortSha(pair.head.sha) || pair.head.package} at ${pair.testcase}`;
  const live =
    pair.state === 'judged' || pair.state === 'failed' || pair.state === 'cancelled' ? undefined : `pair:${pair.id}`;
  return page(frame, {
    title,
    live,
    children: (
      <>
        <Head data={data} now={frame.now} />
        {pair.failure ? <FailureBox failure={pair.failure} /> : null}
        {data.judgement ? (
          <>
            <section aria-labelledby="kpis">
              <h2 id="kpis">
                KPIs <small>{data.kpis.length}</small>
              </h2>
              {data.kpis.length ? (
                <DeltaTable deltas={data.kpis} kind="kpi" open={query.m} details={details} hrefOf={hrefOf} />
              ) : (
                <Empty>This program names no KPI: nothing here starts a bisect or a mail by itself.</Empty>
              )}
            </section>
            <Evidence data={data} query={query} hrefOf={hrefOf} details={details} />
          </>
        ) : pair.failure ? null : (
          <Empty>Not judged yet: {data.boots.filter((boot) => boot.state === 'done').length} boots are done.</Empty>
        )}
        <Boots data={data} now={frame.now} />
        <Surroundings data={data} />
      </>
    ),
  });
}

function Head({ data, now }: { data: PairPage; now: Date }) {
  const { pair, judgement } = data;
  return (
    <header class={`lead ${pair.verdict ?? ''}`}>
      <p class="crumbs">
        <a href={urls.pairs({ tree: pair.tree })}>{pair.tree ?? 'compare'}</a>
        {pair.branch ? (
          <>
            {' / '}
            <a href={urls.pairs({ tree: pair.tree, branch: pair.branch })}>{pair.branch}</a>
          </>
        ) : null}
        {' / '}
        {pair.testcase} on {pair.tbox_group}
        <span class="steps">
          {pair.prev_id ? (
            <a href={urls.pair(pair.prev_id)} rel="prev" title="the pair before on this branch and testcase">
              ← pair {pair.prev_id}
            </a>
          ) : null}
          {pair.next_id ? (
            <a href={urls.pair(pair.next_id)} rel="next" title="the pair after on this branch and testcase">
              pair {pair.next_id} →
            </a>
          ) : null}
        </span>
      </p>
      <h1>
        {pair.verdict ? <VerdictMark verdict={pair.verdict} /> : <StateMark state={pair.state} />}
        {pair.line ? (
          <span class="line"> {pair.line.replace(new RegExp(`^${pair.verdict}[:,]?\\s*`, 'i'), '')}</span>
        ) : null}
      </h1>
      <dl class="facts">
        <div>
          <dt>base</dt>
          <dd>
            <KernelName kernel={pair.base} />
          </dd>
        </div>
        <div>
          <dt>head</dt>
          <dd>
            <KernelName kernel={pair.head} />
            {pair.head.author_name ? <span class="quiet"> by {pair.head.author_name}</span> : null}
          </dd>
        </div>
        <div>
          <dt>host</dt>
          <dd>
            {pair.tbox_group}{' '}
            <span class="quiet">
              {pair.deterministic
                ? 'counts instructions: sees longer paths, not caches or contention'
                : 'measures time'}
            </span>
          </dd>
        </div>
        <div>
          <dt>judged</dt>
          <dd>
            {judgement ? (
              <>
                <Time at={judgement.made_at} now={now} />
                <span class="quiet">
                  {' '}
                  from {judgement.base_boots.length} + {judgement.head_boots.length} boots
                  {pair.looks > 1 ? `, look ${pair.looks}` : ''}, judge {judgement.judge_version}
                </span>
              </>
            ) : (
              pair.state
            )}
          </dd>
        </div>
        {pair.bisect_id || pair.report_id ? (
          <div>
            <dt>then</dt>
            <dd>
              {pair.bisect_id ? <a href={urls.bisect(pair.bisect_id)}>bisect {pair.bisect_id}</a> : null}{' '}
              {pair.bisect_state ? <StateMark state={pair.bisect_state} /> : null}
              {pair.culprit_sha ? (
                <>
                  {' culprit '}
                  <Commit sha={pair.culprit_sha} />
                </>
              ) : null}
              {pair.report_id ? (
                <>
                  {' · '}
                  <a href={urls.report(pair.report_id)}>report {pair.report_id}</a>{' '}
                  <StateMark state={pair.report_state ?? ''} />
                </>
              ) : null}
            </dd>
          </div>
        ) : null}
      </dl>
      <p class="actions">
        {pair.tree && pair.base.sha && pair.head.sha ? (
          <a class="button" href={urls.newBisect({ pair: pair.id, metric: data.kpis[0]?.metric })}>
            Bisect
          </a>
        ) : null}
        {judgement ? (
          <>
            <a href={urls.pairReproduce(pair.id)}>reproduce</a>
            {pair.program === 'mapanon' ? (
              <a href={urls.mapanon([judgement.base_boots.at(-1)!, judgement.head_boots.at(-1)!])}>
                graphs side by side
              </a>
            ) : null}
            <a href={urls.pairText(pair.id)} data-copy="copy as text">
              copy as text
            </a>
            <a href={urls.pairMarkdown(pair.id)} data-copy="copy as Markdown">
              copy as Markdown
            </a>
            <a href={urls.pairMatrix(pair.id, 'base')}>base matrix.json</a>
            <a href={urls.pairMatrix(pair.id, 'head')}>head matrix.json</a>
            <a href={urls.pairMatrix(pair.id, 'head', 'csv')}>csv</a>
            <a href={urls.v1(`pairs/${pair.id}?deltas=all`)}>API</a>
          </>
        ) : null}
      </p>
    </header>
  );
}

function Evidence({
  data,
  query,
  hrefOf,
  details,
}: {
  data: PairPage;
  query: DeltaQuery & { m?: string };
  hrefOf(metric: string): string;
  details: preact.ComponentChildren;
}) {
  const { pair } = data;
  const { m: _m, page: _page, ...filters } = query;
  const at = query.page ?? 1;
  const pages = Math.max(1, Math.ceil(data.chosen / ROWS_PER_PAGE));
  const link = (change: Query, text: string, on: boolean) => (
    <a href={urls.pair(pair.id, { ...filters, ...change })} aria-current={on ? 'true' : undefined}>
      {text}
    </a>
  );
  const count = (name: string) => data.counts[name] ?? 0;
  return (
    <section aria-labelledby="evidence">
      <h2 id="evidence">
        Evidence{' '}
        <small>
          {data.chosen} of {data.total} metrics
        </small>
      </h2>
      <form class="filters" method="get" action={urls.pair(pair.id)}>
        <input
          type="search"
          name="q"
          value={query.q}
          placeholder="part of a metric’s name"
          aria-label="Search metrics"
          data-hotkey="/"
        />
        <select name="program" aria-label="Program">
          <option value="">all programs</option>
          {Object.entries(data.programs)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([program, n]) => (
              <option value={program} selected={query.program === program}>
                {program} ({n})
              </option>
            ))}
        </select>
        <select name="verdict" aria-label="Verdict">
          <option value="">all verdicts</option>
          {[
            ['reported', 'changed only'],
            ['regression', `regressions (${count('regression')})`],
            ['improvement', `improvements (${count('improvement')})`],
            ['changed', `changed, no direction (${count('changed')})`],
            ['same', `shown to be the same (${count('same')})`],
            ['inconclusive', `inconclusive (${count('inconclusive')})`],
          ].map(([name, text]) => (
            <option value={name} selected={query.verdict === name}>
              {text}
            </option>
          ))}
        </select>
        <select name="flag" aria-label="Flag">
          <option value="">all flags</option>
          {Object.keys(FLAG_MEANING).map((flag) => (
            <option value={flag} selected={query.flag === flag}>
              {flag}
            </option>
          ))}
        </select>
        <select name="sort" aria-label="Sort by">
          {[
            ['', 'by weight'],
            ['size', 'by size of change'],
            ['p', 'by p'],
            ['name', 'by name'],
          ].map(([name, text]) => (
            <option value={name} selected={(query.sort ?? '') === name}>
              {text}
            </option>
          ))}
        </select>
        <button type="submit">Show</button>
        {Object.keys(filters).length ? <a href={urls.pair(pair.id)}>reset</a> : null}
        <span class="quick">
          {link(
            { verdict: query.verdict === 'reported' ? '' : 'reported' },
            'changed only',
            query.verdict === 'reported',
          )}
        </span>
      </form>
      {data.rows.length ? (
        <DeltaTable deltas={data.rows} kind="evidence" open={query.m} details={details} hrefOf={hrefOf} />
      ) : (
        <Empty>No metric matches.</Empty>
      )}
      {pages > 1 ? (
        <nav class="pages" aria-label="Pages of metrics">
          {at > 1 ? (
            <a rel="prev" href={urls.pair(pair.id, { ...filters, page: at - 1 })}>
              ← before
            </a>
          ) : null}
          <span>
            page {at} of {pages}
          </span>
          {at < pages ? (
            <a rel="next" href={urls.pair(pair.id, { ...filters, page: at + 1 })}>
              more →
            </a>
          ) : null}
        </nav>
      ) : null}
    </section>
  );
}

function Boots({ data, now }: { data: PairPage; now: Date }) {
  const { pair, boots } = data;
  if (!boots.length) return null;
  const judged = new Set([...(data.judgement?.base_boots ?? []), ...(data.judgement?.head_boots ?? [])]);
  const side = (boot: PairBoot) =>
    boot.kernel_id === pair.head.id || boot.kernel_id === pair.head.same_as ? 'head' : 'base';
  return (
    <section aria-labelledby="boots">
      <h2 id="boots">
        Boots <small>in the order in which they ran</small>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Boots">
        <table>
          <thead>
            <tr>
              <th scope="col">Boot</th>
              <th scope="col">Kernel</th>
              <th scope="col">Host</th>
              <th scope="col">State</th>
              <th scope="col" class="n">
                Took
              </th>
              <th scope="col">Started</th>
              {data.kpis.slice(0, 3).map((kpi) => (
                <th scope="col" class="n">
                  {kpi.metric}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {boots.map((boot) => (
              <tr class={`side-${side(boot)}`}>
                <td>
                  <a href={urls.boot(boot.id)}>boot {boot.id}</a>
                </td>
                <td>{side(boot)}</td>
                <td>{boot.host ?? '–'}</td>
                <td>
                  {boot.state === 'done' ? (
                    judged.size && !judged.has(boot.id) ? (
                      'done, not judged'
                    ) : (
                      'done'
                    )
                  ) : boot.state === 'failed' ? (
                    <>
                      <StateMark state={boot.failure?.class ?? 'failed'} /> {boot.failure?.message}
                    </>
                  ) : (
                    <ProgressBar progress={boot.progress} state={boot.state} />
                  )}
                </td>
                <td class="n">
                  {boot.started_at && boot.finished_at
                    ? seconds((boot.finished_at.getTime() - boot.started_at.getTime()) / 1000)
                    : '–'}
                </td>
                <td>
                  <Time at={boot.started_at} now={now} />
                </td>
                {data.kpis.slice(0, 3).map((kpi) => (
                  <td class="n">{value(numberOf(data, kpi, boot.id))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** A boot's number of a metric, from the judgement's own values. */
export function numberOf(data: PairPage, delta: Delta, bootId: number): number | null {
  const base = data.judgement?.base_boots.indexOf(bootId) ?? -1;
  if (base >= 0) return delta.base.values[base] ?? null;
  const head = data.judgement?.head_boots.indexOf(bootId) ?? -1;
  return head >= 0 ? (delta.head.values[head] ?? null) : null;
}

function Surroundings({ data }: { data: PairPage }) {
  const { pair, differences, range, elsewhere } = data;
  return (
    <div class="columns">
      <section aria-labelledby="range">
        <h2 id="range">
          Commits between{' '}
          <small>
            {range.length}
            {range.length === 60 ? ' newest' : ''}
          </small>
        </h2>
        {range.length ? (
          <ol class="commits">
            {range.map((commit) => (
              <li>
                <Commit sha={commit.sha} subject={commit.subject} tail />{' '}
                <span class="quiet">{commit.author_name}</span>
              </li>
            ))}
          </ol>
        ) : (
          <Empty>{pair.base.sha === pair.head.sha ? 'Both kernels are of one commit.' : 'None is known.'}</Empty>
        )}
      </section>
      <section aria-labelledby="elsewhere">
        <h2 id="elsewhere">The same kernels elsewhere</h2>
        {elsewhere.length ? (
          <ul class="plain">
            {elsewhere.map((other) => (
              <li>
                <VerdictMark verdict={other.verdict} /> <a href={urls.pair(other.id)}>{other.testcase}</a> on{' '}
                {other.tbox_group} <span class="quiet">{other.line ?? other.state}</span>
              </li>
            ))}
          </ul>
        ) : (
          <Empty>These two kernels were compared at no other testcase or host.</Empty>
        )}
        <h2>Environment</h2>
        {differences.length ? (
          <table>
            <thead>
              <tr>
                <th scope="col">Differs</th>
                <th scope="col">Base</th>
                <th scope="col">Head</th>
              </tr>
            </thead>
            <tbody>
              {differences.map((difference) => (
                <tr>
                  <th scope="row">{difference.what}</th>
                  <td>{difference.base.join(', ')}</td>
                  <td>{difference.head.join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <Empty>Nothing recorded about host and environment differs between the boots of base and head.</Empty>
        )}
        <details>
          <summary>Testcase</summary>
          <pre tabIndex={0}>{pair.job_yaml || JSON.stringify(pair.params, null, 1)}</pre>
          <p class="quiet">
            key {pair.testcase_key}
            {Object.entries(pair.versions).map(([what, version]) => `, ${what} ${version}`)}
          </p>
        </details>
      </section>
    </div>
  );
}
