import { BootTable } from '../../parts/bootTable.tsx';
import { KernelTable } from '../../parts/kernelTable.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import { PairTable } from '../../parts/pairTable.tsx';
import { Commit, Empty, StateMark, Time, visible } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { CommitPage } from './data.ts';

export function renderCommit(frame: Frame, data: CommitPage): string {
  const { commit, kernels, pairs, boots, reports, stat } = data;
  const tree = kernels.find((kernel) => kernel.tree)?.tree;
  return page(frame, {
    title: `${commit.sha.slice(0, 12)} ${commit.subject}`,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            {tree ? <a href={urls.pairs({ tree })}>{tree}</a> : 'commit'} / <code>{commit.sha}</code>
          </p>
          <h1>{visible(commit.subject)}</h1>
          <dl class="facts">
            <div>
              <dt>author</dt>
              <dd>
                {commit.author_name} <span class="quiet">&lt;{commit.author_email}&gt;</span>{' '}
                <Time at={commit.authored_at} />
              </dd>
            </div>
            <div>
              <dt>committer</dt>
              <dd>
                {commit.committer_name} <Time at={commit.committed_at} />
              </dd>
            </div>
            <div>
              <dt>parents</dt>
              <dd>
                {commit.parents.map((sha) => (
                  <>
                    <Commit sha={sha} />{' '}
                  </>
                ))}
              </dd>
            </div>
          </dl>
        </header>
        <pre tabIndex={0}>{visible(commit.body || commit.subject)}</pre>
        {stat ? (
          <section>
            <h2>
              Files <small>against its {commit.parents.length > 1 ? 'first parent' : 'parent'}</small>
            </h2>
            <pre tabIndex={0}>{visible(stat)}</pre>
          </section>
        ) : null}
        {reports.length ? (
          <section>
            <h2>Reports</h2>
            <ul class="plain">
              {reports.map((report) => (
                <li>
                  <StateMark state={report.state} /> <a href={urls.report(report.id)}>{report.subject}</a>
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        <section>
          <h2>
            Pairs <small>as base or head</small>
          </h2>
          {pairs.length ? <PairTable pairs={pairs} now={frame.now} /> : <Empty>It is in no pair.</Empty>}
        </section>
        <section>
          <h2>Kernels</h2>
          {kernels.length ? <KernelTable kernels={kernels} /> : <Empty>Nothing was built of it.</Empty>}
        </section>
        <section>
          <h2>
            Boots <small>{boots.length === 200 ? 'the newest 200' : boots.length}</small>
          </h2>
          {boots.length ? <BootTable boots={boots} now={frame.now} /> : <Empty>It was never booted.</Empty>}
        </section>
      </>
    ),
  });
}
