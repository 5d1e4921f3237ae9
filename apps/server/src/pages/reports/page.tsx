import type { ReportRow } from '@kdelta/store';
import { type Frame, page } from '../../parts/layout.tsx';
import { Choice, More } from '../../parts/more.tsx';
import { Commit, Empty, StateMark, Time } from '../../parts/words.tsx';
import { type Query, urls } from '../../urls.ts';

const STATES = [
  'draft',
  'approved',
  'sending',
  'sent',
  'unknown',
  'fixed',
  'expected',
  'invalid',
  'duplicate',
  'stale',
  'rejected',
];

export function renderReports(
  frame: Frame,
  reports: ReportRow[],
  filter: Query & { limit: number; state?: string; tree?: string },
): string {
  const drafts = reports.filter((report) => report.state === 'draft' || report.state === 'unknown');
  const rest = reports.filter((report) => !drafts.includes(report));
  return page(frame, {
    title: 'Reports',
    live: 'reports',
    children: (
      <>
        <h1>Reports</h1>
        <form class="filters" method="get" action={urls.reports()}>
          <Choice
            name="tree"
            label="tree"
            value={filter.tree}
            options={frame.ctx.config.trees.map((tree) => tree.name)}
          />
          <Choice name="state" label="state" value={filter.state} options={STATES} />
          <button type="submit">Show</button>
        </form>
        {drafts.length ? (
          <section aria-labelledby="drafts">
            <h2 id="drafts">
              Waiting for a person <small>{drafts.length}</small>
            </h2>
            <Rows reports={drafts} now={frame.now} />
          </section>
        ) : null}
        <section aria-labelledby="others">
          <h2 id="others">{drafts.length ? 'All others' : 'All'}</h2>
          {rest.length ? <Rows reports={rest} now={frame.now} /> : <Empty>No report matches.</Empty>}
        </section>
        <More path="/reports" filter={filter} items={reports} />
      </>
    ),
  });
}

function Rows({ reports, now }: { reports: ReportRow[]; now: Date }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Reports">
      <table>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Subject</th>
            <th scope="col">Culprit</th>
            <th scope="col">To</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {reports.map((report) => (
            <tr>
              <td>
                <StateMark state={report.state} />
              </td>
              <td class="finding">
                <a href={urls.report(report.id)}>{report.subject}</a>{' '}
                {report.note ? <span class="quiet">{report.note}</span> : null}
              </td>
              <td>
                <Commit sha={report.culprit_sha} />
              </td>
              <td>
                {report.to.join(', ') || 'nobody'}
                {report.cc.length ? <span class="quiet"> +{report.cc.length} cc</span> : null}
              </td>
              <td>
                <Time at={report.state_at} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
