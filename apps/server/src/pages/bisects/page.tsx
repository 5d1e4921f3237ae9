import type { BisectRow } from '@kdelta/store';
import { type Frame, page } from '../../parts/layout.tsx';
import { Choice, More } from '../../parts/more.tsx';
import { Commit, Empty, StateMark, Time } from '../../parts/words.tsx';
import { type Query, urls } from '../../urls.ts';

export function renderBisects(
  frame: Frame,
  bisects: BisectRow[],
  filter: Query & { limit: number; state?: string; tree?: string },
): string {
  return page(frame, {
    title: 'Bisects',
    live: 'bisects',
    children: (
      <>
        <h1>Bisects</h1>
        <form class="filters" method="get" action={urls.bisects()}>
          <Choice
            name="tree"
            label="tree"
            value={filter.tree}
            options={frame.ctx.config.trees.map((tree) => tree.name)}
          />
          <Choice
            name="state"
            label="state"
            value={filter.state}
            options={['wanted', 'running', 'paused', 'verifying', 'done', 'failed', 'cancelled']}
          />
          <button type="submit">Show</button>
          <a class="button" href={urls.newBisect()}>
            New bisect
          </a>
        </form>
        {bisects.length ? (
          <div class="scroll" tabIndex={0} role="region" aria-label="Bisects">
            <table>
              <thead>
                <tr>
                  <th scope="col">Bisect</th>
                  <th scope="col">State</th>
                  <th scope="col">Metric</th>
                  <th scope="col">Where</th>
                  <th scope="col">Range</th>
                  <th scope="col">Culprit</th>
                  <th scope="col" class="n">
                    Best
                  </th>
                  <th scope="col" class="n">
                    Boots
                  </th>
                  <th scope="col">Asked</th>
                </tr>
              </thead>
              <tbody>
                {bisects.map((bisect) => (
                  <tr>
                    <td>
                      <a href={urls.bisect(bisect.id)}>bisect {bisect.id}</a>
                    </td>
                    <td>
                      <StateMark state={bisect.state} />
                    </td>
                    <td>{bisect.metric}</td>
                    <td>
                      {bisect.tree}, {bisect.testcase} on {bisect.tbox_group}
                    </td>
                    <td>
                      <Commit sha={bisect.good_sha} />…<Commit sha={bisect.bad_sha} />
                    </td>
                    <td>
                      <Commit sha={bisect.culprit_sha} subject={bisect.culprit_subject} tail />
                    </td>
                    <td class="n">{bisect.best === null ? '–' : `${(bisect.best * 100).toFixed(0)} %`}</td>
                    <td class="n">
                      {bisect.boots_done} / {bisect.budget}
                    </td>
                    <td>
                      {bisect.asked_by} <Time at={bisect.asked_at} now={frame.now} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <Empty>No bisect matches. A KPI’s regression starts one; so does the button on a pair’s page.</Empty>
        )}
        <More path="/bisects" filter={filter} items={bisects} />
      </>
    ),
  });
}
