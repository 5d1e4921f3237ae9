import { bytes } from '../../numbers.ts';
import { EventList } from '../../parts/events.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import { Commit, Empty, StateMark, Time, visible } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import { ReportActions } from './actions.tsx';
import type { ReportPage } from './data.ts';

export function renderReport(frame: Frame, data: ReportPage): string {
  const { report, files, events } = data;
  return page(frame, {
    title: report.subject,
    live: ['draft', 'approved', 'sending', 'unknown'].includes(report.state) ? `report:${report.id}` : undefined,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            <a href={urls.reports({ tree: report.tree })}>{report.tree}</a> / report {report.id}
            {report.pair_id ? (
              <>
                {' / '}
                <a href={urls.pair(report.pair_id)}>pair {report.pair_id}</a>
              </>
            ) : null}
            {report.bisect_id ? (
              <>
                {' / '}
                <a href={urls.bisect(report.bisect_id)}>bisect {report.bisect_id}</a>
              </>
            ) : null}
          </p>
          <h1>
            <StateMark state={report.state} /> <span class="line">{report.subject}</span>
          </h1>
          <dl class="facts">
            <div>
              <dt>culprit</dt>
              <dd>
                <Commit sha={report.culprit_sha} subject={report.culprit_subject} />
                {report.culprit_author ? <span class="quiet"> by {report.culprit_author}</span> : null}
              </dd>
            </div>
            <div>
              <dt>state</dt>
              <dd>
                {report.state} since <Time at={report.state_at} now={frame.now} />
                {report.note ? <span class="quiet">: {report.note}</span> : null}
              </dd>
            </div>
            {report.sent_at ? (
              <div>
                <dt>sent</dt>
                <dd>
                  <Time at={report.sent_at} now={frame.now} /> <span class="quiet">{report.response}</span>
                </dd>
              </div>
            ) : null}
          </dl>
          <ReportActions report={report} person={frame.person} />
        </header>
        <section aria-labelledby="mail">
          <h2 id="mail">The mail</h2>
          <div class="mail">
            <dl class="envelope">
              <div>
                <dt>To</dt>
                <dd>{report.to.join(', ') || 'nobody'}</dd>
              </div>
              <div>
                <dt>Cc</dt>
                <dd>{report.cc.join(', ') || 'nobody'}</dd>
              </div>
              <div>
                <dt>Subject</dt>
                <dd>{report.subject}</dd>
              </div>
              <div>
                <dt>Message-ID</dt>
                <dd>{report.message_id}</dd>
              </div>
            </dl>
            <pre tabIndex={0}>{visible(report.body)}</pre>
          </div>
        </section>
        <div class="columns">
          <section aria-labelledby="files">
            <h2 id="files">Attached</h2>
            {files.length ? (
              <ul class="plain">
                {files.map((file) => (
                  <li>
                    <a href={urls.reportFile(report.id, file.name)}>{file.name}</a>{' '}
                    <span class="quiet">{bytes(file.bytes)}</span>
                  </li>
                ))}
              </ul>
            ) : (
              <Attached report={report} />
            )}
            {report.dropped.length ? (
              <>
                <h3>Addresses left out</h3>
                <ul class="plain">
                  {report.dropped.map((dropped) => (
                    <li>
                      {dropped.address} <span class="quiet">{dropped.why}</span>
                    </li>
                  ))}
                </ul>
              </>
            ) : null}
          </section>
          <section aria-labelledby="trail">
            <h2 id="trail">Who did what</h2>
            <EventList events={events} now={frame.now} />
          </section>
        </div>
      </>
    ),
  });
}

/** What the mails to people carry is made of files that are kept elsewhere: those of the pair. */
function Attached({ report }: { report: ReportPage['report'] }) {
  const { pair_id: pair } = report;
  if (pair === null) return <Empty>Nothing is attached.</Empty>;
  return (
    <p>
      Mails to people carry <a href={urls.pairReproduce(pair)}>reproduce</a>, the job file, the kernel’s configuration
      and the matrices of <a href={urls.pairMatrix(pair, 'base')}>parent</a> and{' '}
      <a href={urls.pairMatrix(pair, 'head')}>culprit</a>; mailing lists get the text alone unless a rule says
      otherwise.
    </p>
  );
}
