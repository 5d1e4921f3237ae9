import type { ProbeRow } from '@kdelta/store';
import { shortSha, value } from '../../numbers.ts';
import { EventList } from '../../parts/events.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import { PosteriorStrip, Spark } from '../../parts/posterior.tsx';
import { Commit, Empty, FailureBox, StateMark, Time } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import { BisectActions } from './actions.tsx';
import type { BisectPage } from './data.ts';

const OPEN = new Set(['wanted', 'running', 'paused', 'verifying']);

export function renderBisect(frame: Frame, data: BisectPage): string {
  const { bisect, probes, commits, events } = data;
  const { now } = frame;
  const best = commits.toSorted((a, b) => b.p - a.p).filter((commit) => commit.p > 0.001);
  return page(frame, {
    title: `Bisect ${bisect.id}: ${bisect.metric}`,
    live: OPEN.has(bisect.state) ? `bisect:${bisect.id}` : undefined,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            <a href={urls.bisects({ tree: bisect.tree })}>{bisect.tree}</a> / {bisect.testcase} on {bisect.tbox_group}
            {bisect.pair_id ? (
              <>
                {' / '}
                <a href={urls.pair(bisect.pair_id)}>pair {bisect.pair_id}</a>
              </>
            ) : null}
          </p>
          <h1>
            <StateMark state={bisect.state} /> <Finding data={data} />
          </h1>
          <Facts data={data} now={now} />
          <BisectActions bisect={bisect} person={frame.person} />
        </header>
        <FailureBox failure={bisect.failure} />
        <section aria-labelledby="posterior">
          <h2 id="posterior">
            Where it is{' '}
            <small>{commits.length} commits, oldest left; bars: probability of being the culprit; ticks: probes</small>
          </h2>
          {commits.length ? (
            <PosteriorStrip
              commits={commits}
              probes={probes}
              untestable={new Set(Object.keys(bisect.untestable ?? {}))}
              culprit={bisect.culprit_sha}
            />
          ) : (
            <Empty>The commits of this range are not known yet.</Empty>
          )}
          <Candidates data={data} best={best.slice(0, 12)} rest={best.length - 12} />
        </section>
        <Untestable untestable={bisect.untestable} data={data} />
        <section aria-labelledby="probes">
          <h2 id="probes">
            Probes <small>{probes.length}, in order</small>
          </h2>
          <Probes data={data} now={now} />
        </section>
        <section aria-labelledby="log">
          <h2 id="log">
            Log{' '}
            <small>
              <a href={`/bisects/${bisect.id}.log`}>as text</a>, <a href={urls.v1(`bisects/${bisect.id}`)}>as JSON</a>
            </small>
          </h2>
          <EventList events={events} now={now} />
        </section>
      </>
    ),
  });
}

function Finding({ data }: { data: BisectPage }) {
  const { bisect } = data;
  if (bisect.culprit_sha)
    return (
      <span class="line">
        culprit of {bisect.metric}: <Commit sha={bisect.culprit_sha} subject={bisect.culprit_subject} />
        {bisect.culprit_author ? <span class="quiet"> by {bisect.culprit_author}</span> : null}
      </span>
    );
  return (
    <span class="line">
      {OPEN.has(bisect.state) ? 'looking for what changed' : 'no culprit for'} {bisect.metric}
    </span>
  );
}

function Facts({ data, now }: { data: BisectPage; now: Date }) {
  const { bisect, probes, commits } = data;
  const certainty = bisect.culprit_sha
    ? commits.find((c) => c.sha === bisect.culprit_sha)?.p
    : Math.max(0, ...commits.map((c) => c.p));
  const result = bisect.result ?? {};
  const number = (key: string) => (typeof result[key] === 'number' ? (result[key] as number) : null);
  const text = (key: string) => (typeof result[key] === 'string' ? (result[key] as string) : null);
  const kernels = new Set(probes.map((probe) => probe.sha)).size;
  return (
    <dl class="facts">
      <div>
        <dt>range</dt>
        <dd>
          <Commit sha={bisect.good_sha} /> good … bad <Commit sha={bisect.bad_sha} />
        </dd>
      </div>
      <div>
        <dt>certainty</dt>
        <dd>
          {certainty === undefined ? '–' : `${((number('certainty') ?? certainty) * 100).toFixed(1)} %`}
          <span class="quiet"> wanted {(bisect.certainty * 100).toFixed(0)} %</span>
          {text('reason') ? <span class="quiet">; {text('reason')}</span> : null}
        </dd>
      </div>
      <div>
        <dt>cost</dt>
        <dd>
          {bisect.boots_done} boots of {kernels} kernels
          {bisect.boots_open ? `, ${bisect.boots_open} under way` : ''}
          <span class="quiet"> budget {bisect.budget} boots</span>
        </dd>
      </div>
      {number('stepPct') === null ? null : (
        <div>
          <dt>step</dt>
          <dd>
            {value(number('stepPct'))} %
            {Array.isArray(result.ci95Pct) ? (
              <span class="quiet"> 95 % {(result.ci95Pct as number[]).map((x) => value(x)).join(' … ')}</span>
            ) : null}
          </dd>
        </div>
      )}
      <div>
        <dt>asked</dt>
        <dd>
          by {bisect.asked_by} <Time at={bisect.asked_at} now={now} />
          {bisect.ended_at ? (
            <>
              , ended <Time at={bisect.ended_at} now={now} />
            </>
          ) : null}
        </dd>
      </div>
      {bisect.verify_pair_id || bisect.report_id ? (
        <div>
          <dt>then</dt>
          <dd>
            {bisect.verify_pair_id ? (
              <a href={urls.pair(bisect.verify_pair_id)}>verification against its parent</a>
            ) : null}{' '}
            {bisect.report_id ? <a href={urls.report(bisect.report_id)}>report {bisect.report_id}</a> : null}
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

function Candidates({ data, best, rest }: { data: BisectPage; best: BisectPage['commits']; rest: number }) {
  if (!best.length) return null;
  return (
    <table class="candidates">
      <caption class="hidden">Most probable commits</caption>
      <thead>
        <tr>
          <th scope="col" class="n">
            Probability
          </th>
          <th scope="col">Commit</th>
          <th scope="col">Author</th>
        </tr>
      </thead>
      <tbody>
        {best.map((commit) => (
          <tr class={commit.sha === data.bisect.culprit_sha ? 'culprit' : undefined}>
            <td class="n">{(commit.p * 100).toFixed(1)} %</td>
            <td>
              <Commit sha={commit.sha} subject={commit.subject} />
            </td>
            <td>{commit.author}</td>
          </tr>
        ))}
      </tbody>
      {rest > 0 ? (
        <tfoot>
          <tr>
            <td colSpan={3} class="quiet">
              and {rest} more above 0.1 %
            </td>
          </tr>
        </tfoot>
      ) : null}
    </table>
  );
}

function Untestable({ untestable, data }: { untestable: Record<string, string> | null; data: BisectPage }) {
  const entries = Object.entries(untestable ?? {});
  if (!entries.length) return null;
  const subjects = new Map(data.commits.map((commit) => [commit.sha, commit.subject]));
  return (
    <section aria-labelledby="untestable">
      <h2 id="untestable">
        Untestable <small>{entries.length}; they keep their probability</small>
      </h2>
      <ul class="plain">
        {entries.map(([sha, why]) => (
          <li>
            <Commit sha={sha} subject={subjects.get(sha)} /> <span class="quiet">{why}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Probes({ data, now }: { data: BisectPage; now: Date }) {
  const { probes, commits } = data;
  if (!probes.length) return <Empty>None yet.</Empty>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Probes">
      <table class="probes">
        <thead>
          <tr>
            <th scope="col" class="n">
              #
            </th>
            <th scope="col">Kernel</th>
            <th scope="col">Boots</th>
            <th scope="col" class="n">
              Numbers
            </th>
            <th scope="col">Why here</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {probes.map((probe) => (
            <tr>
              <td class="n">{probe.seq}</td>
              <td>
                <Commit sha={probe.sha} subject={probe.subject} tail />
              </td>
              <td>
                <ProbeBoots probe={probe} />
              </td>
              <td class="n values">{(probe.values ?? []).map((x) => value(x)).join('  ') || '–'}</td>
              <td class="quiet why">{probe.why}</td>
              <td>
                <Spark commits={commits} posterior={probe.posterior_before} />
              </td>
              <td>
                <Spark commits={commits} posterior={probe.posterior_after} />
              </td>
              <td>
                <Time at={probe.at} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ProbeBoots({ probe }: { probe: ProbeRow }) {
  if (probe.state === 'untestable') return <StateMark state="untestable" />;
  return (
    <span class="among">
      {probe.boot_ids.map((id) => (
        <>
          <a href={urls.boot(id)}>{id}</a>{' '}
        </>
      ))}
      {probe.state === 'wanted' ? <span class="quiet">of {probe.boots}</span> : null}
    </span>
  );
}

/** The same as text, for a download: one line per probe. */
export function bisectLog(data: BisectPage): string {
  const { bisect, probes } = data;
  const lines = [
    `# bisect ${bisect.id}: ${bisect.metric}, ${bisect.testcase} on ${bisect.tbox_group}`,
    `# good ${bisect.good_sha}`,
    `# bad  ${bisect.bad_sha}`,
    ...probes.map((probe) => {
      const best = Object.entries(probe.posterior_after ?? {}).toSorted((a, b) => b[1] - a[1])[0];
      const after = best ? `best ${shortSha(best[0])} ${(best[1] * 100).toFixed(1)} %` : '';
      return `${String(probe.seq).padStart(3)}  ${probe.sha}  ${probe.state.padEnd(10)}  [${(probe.values ?? []).join(' ')}]  ${after}  ${probe.why.replaceAll('\n', ' ')}`;
    }),
    ...Object.entries(bisect.untestable ?? {}).map(([sha, why]) => `# untestable ${sha}: ${why.replaceAll('\n', ' ')}`),
    `# ${bisect.state}${bisect.culprit_sha ? `: culprit ${bisect.culprit_sha} ${bisect.culprit_subject ?? ''}` : ''}`,
  ];
  return `${lines.join('\n')}\n`;
}
