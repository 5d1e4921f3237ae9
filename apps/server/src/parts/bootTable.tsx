import type { BootRow } from '@kdelta/store';
import { seconds } from '../numbers.ts';
import { urls } from '../urls.ts';
import { Commit, ProgressBar, StateMark, Time } from './words.tsx';

export function BootTable({ boots, now }: { boots: BootRow[]; now: Date }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Boots">
      <table>
        <thead>
          <tr>
            <th scope="col">Boot</th>
            <th scope="col">State</th>
            <th scope="col">Kernel</th>
            <th scope="col">Testcase</th>
            <th scope="col">Host</th>
            <th scope="col">For</th>
            <th scope="col" class="n">
              Took
            </th>
            <th scope="col">Started</th>
          </tr>
        </thead>
        <tbody>
          {boots.map((boot) => (
            <tr>
              <td>
                <a href={urls.boot(boot.id)}>boot {boot.id}</a>
              </td>
              <td>
                {boot.state === 'failed' ? (
                  <>
                    <StateMark state={boot.failure?.class ?? 'failed'} /> {boot.failure?.message}
                  </>
                ) : boot.state === 'done' ? (
                  'done'
                ) : (
                  <ProgressBar progress={boot.progress} state={boot.state} />
                )}
              </td>
              <td>
                {boot.sha ? <Commit sha={boot.sha} /> : boot.package}{' '}
                <a class="quiet" href={urls.kernel(boot.kernel_id)}>
                  kernel {boot.kernel_id}
                </a>
              </td>
              <td>{boot.testcase}</td>
              <td>{boot.host ?? '–'}</td>
              <td>
                {boot.pair_id ? <a href={urls.pair(boot.pair_id)}>pair {boot.pair_id}</a> : null}
                {boot.bisect_id ? <a href={urls.bisect(boot.bisect_id)}>bisect {boot.bisect_id}</a> : null}
              </td>
              <td class="n">
                {boot.started_at && boot.finished_at
                  ? seconds((boot.finished_at.getTime() - boot.started_at.getTime()) / 1000)
                  : '–'}
              </td>
              <td>
                <Time at={boot.started_at} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
