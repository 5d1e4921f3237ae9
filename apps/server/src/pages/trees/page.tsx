import type { TreeRow } from '@kdelta/store';
import { type Frame, page } from '../../parts/layout.tsx';
import { Commit, Empty, StateMark, Time } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { JobOnDisk } from './jobs.ts';

/** Trees and jobs: the configuration as loaded, with what is wrong in it. */
export function renderTrees(frame: Frame, trees: TreeRow[], jobs: JobOnDisk[]): string {
  return page(frame, {
    title: 'Trees and jobs',
    live: 'trees',
    children: (
      <>
        <h1>Trees and jobs</h1>
        <p class="quiet">
          from <code>{frame.ctx.config.file.split('/').at(-1)}</code>
        </p>
        {trees.length ? null : <Empty>No tree is watched.</Empty>}
        {trees.map((tree) => (
          <section aria-labelledby={`tree-${tree.id}`}>
            <h2 id={`tree-${tree.id}`}>
              <a href={urls.pairs({ tree: tree.name })}>{tree.name}</a> <small>{tree.url}</small>
            </h2>
            {tree.fetch_error ? (
              <p class="failure">
                fetching failed {tree.fetch_failures} times: {tree.fetch_error}; next try{' '}
                <Time at={tree.next_fetch_at} now={frame.now} />
              </p>
            ) : (
              <p class="quiet">
                {tree.active ? '' : 'not watched any more; '}fetched <Time at={tree.fetched_at} now={frame.now} />, next{' '}
                <Time at={tree.next_fetch_at} now={frame.now} />
              </p>
            )}
            <div class="scroll" tabIndex={0} role="region" aria-label="Branches">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Branch</th>
                    <th scope="col">Head</th>
                    <th scope="col">Seen</th>
                    <th scope="col">State</th>
                  </tr>
                </thead>
                <tbody>
                  {tree.heads.map((head) => (
                    <tr>
                      <td>
                        <a href={urls.pairs({ tree: tree.name, branch: head.branch })}>{head.branch}</a>
                      </td>
                      <td>
                        <Commit sha={head.sha} subject={head.subject} />
                      </td>
                      <td>
                        <Time at={head.seen_at} now={frame.now} />
                      </td>
                      <td>
                        <StateMark state={head.state} /> <span class="quiet">{head.note}</span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <details>
              <summary>Configuration</summary>
              <pre tabIndex={0}>{JSON.stringify(tree.config, null, 2)}</pre>
            </details>
          </section>
        ))}
        <section aria-labelledby="jobs">
          <h2 id="jobs">Jobs</h2>
          {jobs.length ? (
            <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Job</th>
                    <th scope="col">Program</th>
                    <th scope="col">Parameters</th>
                    <th scope="col" class="n">
                      Boots
                    </th>
                    <th scope="col">State</th>
                  </tr>
                </thead>
                <tbody>
                  {jobs.map((job) => (
                    <tr>
                      <th scope="row">{job.name}</th>
                      <td>{job.program}</td>
                      <td>{job.params}</td>
                      <td class="n">{job.boots}</td>
                      <td>{job.error ? <span class="failure-inline">{job.error}</span> : 'loaded'}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <Empty>No job file is in jobs/.</Empty>
          )}
        </section>
      </>
    ),
  });
}
