import type { HostRow, PairRow } from '@kdelta/store';
import { seconds, shortSha } from '../../numbers.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { PairTable } from '../../parts/pairTable.tsx';
import { Commit, Empty, ProgressBar, StateMark, Time } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { OverviewPage } from './data.ts';

const RANK: Record<string, number> = { regression: 0, changed: 1, improvement: 2, inconclusive: 3, same: 4 };

export function renderOverview(frame: Frame, data: OverviewPage): string {
  const { now } = frame;
  const trees = [...new Set([...data.trees.map((tree) => tree.name), ...data.pairs.map((pair) => pair.tree ?? '')])];
  return page(frame, {
    title: 'Overview',
    live: '*',
    children: (
      <>
        <h1 class="hidden">Overview</h1>
        <div class="columns wide-left">
          <div>
            {trees.length ? null : (
              <Empty>No tree is watched yet: name one in kdelta.yaml and start `kdelta up`.</Empty>
            )}
            {trees.map((name) => (
              <TreeVerdicts name={name} data={data} now={now} />
            ))}
          </div>
          <div>
            <Now data={data} now={now} />
            <Bisects data={data} now={now} />
            <Hosts hosts={data.hosts} />
          </div>
        </div>
      </>
    ),
  });
}

function TreeVerdicts({ name, data, now }: { name: string; data: OverviewPage; now: Date }) {
  const tree = data.trees.find((one) => one.name === name);
  const pairs = data.pairs
    .filter((pair) => (pair.tree ?? '') === name)
    .toSorted((a, b) => rank(a) - rank(b) || b.id - a.id)
    .slice(0, 20);
  const id = `tree-${name || 'none'}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {name ? <a href={urls.pairs({ tree: name })}>{name}</a> : 'Comparisons without a tree'}{' '}
        {tree?.heads.map((head) => (
          <small class="head">
            {head.branch} <Commit sha={head.sha} /> <Time at={head.seen_at} now={now} />
          </small>
        ))}
      </h2>
      {tree?.fetch_error ? (
        <p class="failure">
          fetching failed {tree.fetch_failures} times: {tree.fetch_error}; next try{' '}
          <Time at={tree.next_fetch_at} now={now} />
        </p>
      ) : null}
      {pairs.length ? <PairTable pairs={pairs} now={now} /> : <Empty>No pair yet; the next new head makes one.</Empty>}
    </section>
  );
}

const rank = (pair: PairRow) => (pair.verdict ? (RANK[pair.verdict] ?? 5) : pair.state === 'failed' ? 0.5 : 2.5);

function Now({ data, now }: { data: OverviewPage; now: Date }) {
  const { running, queue } = data;
  return (
    <section aria-labelledby="now">
      <h2 id="now">Now</h2>
      {running.length ? (
        <ul class="running">
          {running.map((row) => (
            <li>
              <span>
                {row.what === 'boot' ? (
                  <>
                    <b>{row.host ?? 'a host'}</b> <a href={urls.boot(row.id)}>boot {row.id}</a> {row.testcase}
                  </>
                ) : (
                  <>
                    <b>build</b> <a href={urls.kernel(row.id)}>kernel {row.id}</a>
                  </>
                )}{' '}
                <span class="quiet">{row.sha ? shortSha(row.sha) : row.package}</span>{' '}
                {row.pair_id ? (
                  <a class="quiet" href={urls.pair(row.pair_id)}>
                    pair {row.pair_id}
                  </a>
                ) : null}
                {row.bisect_id ? (
                  <a class="quiet" href={urls.bisect(row.bisect_id)}>
                    bisect {row.bisect_id}
                  </a>
                ) : null}
              </span>
              <ProgressBar progress={row.progress} state={row.state} />
              {row.started_at ? <Time at={row.started_at} now={now} /> : null}
            </li>
          ))}
        </ul>
      ) : (
        <Empty>Nothing runs.</Empty>
      )}
      <p class="queue">
        queue: <b>{queue.boots}</b> boots, <b>{queue.kernels}</b> kernels
        {queue.eta_seconds && queue.boots ? <>, about {seconds(queue.eta_seconds)}</> : null}
        {queue.oldest ? (
          <span class="quiet">
            ; oldest <Time at={queue.oldest} now={now} />
          </span>
        ) : null}
      </p>
    </section>
  );
}

function Bisects({ data, now }: { data: OverviewPage; now: Date }) {
  return (
    <section aria-labelledby="bisects">
      <h2 id="bisects">
        <a href={urls.bisects()}>Bisects under way</a>
      </h2>
      {data.bisects.length ? (
        <ul class="plain">
          {data.bisects.map((bisect) => (
            <li>
              <StateMark state={bisect.state} /> <a href={urls.bisect(bisect.id)}>{bisect.metric}</a> on{' '}
              {bisect.tbox_group}{' '}
              <span class="quiet">
                {bisect.best === null ? '' : `best ${(bisect.best * 100).toFixed(0)} %, `}
                {bisect.boots_done} of {bisect.budget} boots, <Time at={bisect.asked_at} now={now} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <Empty>None.</Empty>
      )}
    </section>
  );
}

function Hosts({ hosts }: { hosts: HostRow[] }) {
  return (
    <section aria-labelledby="hosts">
      <h2 id="hosts">
        <a href={urls.hosts()}>Hosts</a>
      </h2>
      {hosts.length ? (
        <ul class="plain">
          {hosts.map((host) => (
            <li>
              <StateMark state={host.state} /> <a href={urls.host(host.name)}>{host.name}</a>{' '}
              <span class="quiet">
                {host.done_day} boots today{host.failed_day ? `, ${host.failed_day} failed` : ''}
                {host.lease_boot_id && host.state === 'leased' ? `, boot ${host.lease_boot_id}` : ''}
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <Empty>No host yet; hosts/*.yaml name them.</Empty>
      )}
    </section>
  );
}
