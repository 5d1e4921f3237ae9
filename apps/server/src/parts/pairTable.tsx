import type { PairRow } from '@kdelta/store';
import { urls } from '../urls.ts';
import { Commit, StateMark, Time, VerdictMark } from './words.tsx';

/** Pairs as rows: verdict first, then what and where. */
export function PairTable({ pairs, now }: { pairs: PairRow[]; now: Date }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Pairs">
      <table class="pairs">
        <thead>
          <tr>
            <th scope="col">Verdict</th>
            <th scope="col">Finding</th>
            <th scope="col">Head</th>
            <th scope="col">Testcase</th>
            <th scope="col">Host</th>
            <th scope="col" class="n">
              Boots
            </th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair) => (
            <tr class={`v-${pair.verdict ?? pair.state}`}>
              <td>{pair.verdict ? <VerdictMark verdict={pair.verdict} /> : <StateMark state={pair.state} />}</td>
              <td class="finding">
                <a href={urls.pair(pair.id)}>{finding(pair)}</a>{' '}
                {pair.bisect_id ? (
                  <a class="quiet" href={urls.bisect(pair.bisect_id)}>
                    bisect
                  </a>
                ) : null}{' '}
                {pair.report_id ? (
                  <a class="quiet" href={urls.report(pair.report_id)}>
                    report
                  </a>
                ) : null}
              </td>
              <td>
                <Commit sha={pair.head_sha} subject={pair.head_subject} tail />
              </td>
              <td>{pair.testcase}</td>
              <td>{pair.tbox_group}</td>
              <td class="n">
                {pair.boots_done}
                {pair.boots_open ? <span class="quiet"> +{pair.boots_open}</span> : null}
              </td>
              <td>
                <Time at={pair.judged_at ?? pair.planned_at} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The sentence without the verdict that stands before it. */
const finding = (pair: PairRow) =>
  pair.line?.replace(/^(regression|improvement|changed|same|inconclusive)[:;,]?\s*/, '') ??
  pair.failure?.message ??
  `pair ${pair.id}`;
