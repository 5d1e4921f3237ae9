import { WITHIN_BOOT } from '@kdelta/matrix';
import { bytes, seconds, value } from '../../numbers.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { Lines } from '../../parts/lines.tsx';
import { Empty, FailureBox, KernelName, ProgressBar, StateMark, Time, visible } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { BootPage } from './data.ts';

const ENDED = new Set(['done', 'failed', 'cancelled']);

export function renderBoot(frame: Frame, data: BootPage, query: { q?: string; m?: string }): string {
  const { boot, files } = data;
  const needle = query.q?.toLowerCase();
  const samples = needle ? data.samples.filter((sample) => sample.metric.toLowerCase().includes(needle)) : data.samples;
  // A metric with a spread inside the boot has samples to show.
  const sampled = new Set(
    data.samples.flatMap(({ metric }) => (metric.endsWith(WITHIN_BOOT) ? [metric.slice(0, -WITHIN_BOOT.length)] : [])),
  );
  return page(frame, {
    title: `Boot ${boot.id}`,
    live: ENDED.has(boot.state) ? undefined : `boot:${boot.id}`,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            {boot.tree ? <a href={urls.pairs({ tree: boot.tree })}>{boot.tree}</a> : (boot.saved_as ?? 'kdelta run')} /{' '}
            {boot.testcase} on {boot.tbox_group}
          </p>
          <h1>
            <StateMark state={boot.state} /> <span class="line">boot {boot.id}</span>{' '}
            {ENDED.has(boot.state) ? null : <ProgressBar progress={boot.progress} state={boot.state} />}
          </h1>
          <dl class="facts">
            <div>
              <dt>kernel</dt>
              <dd>
                <KernelName kernel={{ ...boot, id: boot.kernel_id }} />{' '}
                {boot.release ? <code>{boot.release}</code> : null}
              </dd>
            </div>
            <div>
              <dt>host</dt>
              <dd>{boot.host ? <a href={urls.host(boot.host)}>{boot.host}</a> : 'none yet'}</dd>
            </div>
            <div>
              <dt>for</dt>
              <dd>
                {boot.pair_id ? <a href={urls.pair(boot.pair_id)}>pair {boot.pair_id}</a> : null}
                {boot.bisect_id ? <a href={urls.bisect(boot.bisect_id)}>bisect {boot.bisect_id}</a> : null}
                {boot.pair_id || boot.bisect_id ? null : (boot.saved_as ?? 'kdelta run')}
                {boot.retry_of ? (
                  <>
                    , repeats <a href={urls.boot(boot.retry_of)}>boot {boot.retry_of}</a>
                  </>
                ) : null}
              </dd>
            </div>
            <div>
              <dt>ran</dt>
              <dd>
                <Time at={boot.started_at} now={frame.now} />
                {boot.started_at && boot.finished_at
                  ? `, for ${seconds((boot.finished_at.getTime() - boot.started_at.getTime()) / 1000)}`
                  : ''}
              </dd>
            </div>
            {boot.boot_uuid ? (
              <div>
                <dt>boot_id</dt>
                <dd>
                  <code>{boot.boot_uuid}</code>
                </dd>
              </div>
            ) : null}
          </dl>
        </header>
        <FailureBox failure={boot.failure} />
        <div class="columns">
          <section aria-labelledby="timeline">
            <h2 id="timeline">Timeline</h2>
            <Timeline boot={boot} />
          </section>
          <section aria-labelledby="files">
            <h2 id="files">Files</h2>
            {boot.program === 'mapanon' && boot.state === 'done' ? (
              <p>
                <a href={urls.mapanon([boot.id])}>Graphs of mapanon</a>, also beside another boot
              </p>
            ) : null}
            {files.length ? (
              <table>
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col" class="n">
                      Size
                    </th>
                    <th scope="col">sha256</th>
                  </tr>
                </thead>
                <tbody>
                  {files.map((file) => (
                    <tr>
                      <td>
                        <a href={urls.bootFile(boot.id, file.name)}>{file.name}</a>
                      </td>
                      <td class="n">{bytes(file.bytes)}</td>
                      <td>
                        <code title={file.sha256}>{file.sha256.slice(0, 16)}</code>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            ) : (
              <Empty>No file is kept.</Empty>
            )}
            {boot.environment ? (
              <details>
                <summary>Environment</summary>
                <table>
                  <tbody>
                    {Object.entries(boot.environment).map(([name, text]) => (
                      <tr>
                        <th scope="row">{name}</th>
                        <td>{visible(text)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </details>
            ) : null}
          </section>
        </div>
        {data.console ? (
          <section aria-labelledby="console">
            <h2 id="console">
              Console <small>{data.console.cut ? `last ${bytes(data.console.text.length)}` : 'all of it'}</small>
            </h2>
            <pre class="log" tabIndex={0}>
              {visible(data.console.text)}
            </pre>
          </section>
        ) : null}
        <section aria-labelledby="samples">
          <h2 id="samples">
            Samples{' '}
            <small>
              {samples.length} of {data.samples.length} metrics;{' '}
              <a href={urls.v1(`boots/${boot.id}/matrix.json`)}>matrix.json</a>
            </small>
          </h2>
          <form class="filters" method="get">
            <input
              type="search"
              name="q"
              value={query.q}
              placeholder="part of a metric’s name"
              aria-label="Search metrics"
              data-hotkey="/"
            />
            <button type="submit">Show</button>
          </form>
          {query.m ? (
            <section id="inside" aria-label={`samples of ${query.m}`}>
              <h3>{query.m}</h3>
              {data.series ? (
                <Lines lines={[{ ...data.series, side: 'head' }]} />
              ) : (
                <Empty>It has one sample in this boot, or its raw file isn’t kept.</Empty>
              )}
            </section>
          ) : null}
          {samples.length ? (
            <ul class="samples">
              {samples.slice(0, 1000).map((sample) => (
                <li>
                  {sampled.has(sample.metric) ? (
                    <a href={`${urls.boot(boot.id, { q: query.q, m: sample.metric })}#inside`}>{sample.metric}</a>
                  ) : (
                    <span>{sample.metric}</span>
                  )}{' '}
                  <b title={String(sample.value)}>{value(sample.value)}</b>
                </li>
              ))}
            </ul>
          ) : (
            <Empty>{ENDED.has(boot.state) ? 'This boot has no numbers.' : 'They come when the boot is done.'}</Empty>
          )}
        </section>
      </>
    ),
  });
}

function Timeline({ boot }: { boot: BootPage['boot'] }) {
  const entries = boot.timeline ?? [];
  if (!entries.length) return <Empty>Nothing yet.</Empty>;
  const start = entries[0]!.at;
  return (
    <table class="timeline">
      <thead>
        <tr>
          <th scope="col" class="n">
            At
          </th>
          <th scope="col" class="n">
            Step
          </th>
          <th scope="col">What the runner did</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry, i) => (
          <tr>
            <td class="n">{((entry.at - start) / 1000).toFixed(1)} s</td>
            <td class="n">{i ? `+${((entry.at - entries[i - 1]!.at) / 1000).toFixed(1)} s` : ''}</td>
            <td>{visible(entry.what)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
