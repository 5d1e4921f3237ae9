import { seconds } from '../../numbers.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { Empty, VerdictMark } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { NewBisectPage } from './data.ts';

export function renderNewBisect(frame: Frame, data: NewBisectPage): string {
  const { wanted, trees, testcases, metrics } = data;
  const may = frame.person?.scopes.some((scope) => scope === 'bisect' || scope === 'admin');
  return page(frame, {
    title: 'New bisect',
    children: (
      <>
        <h1>New bisect</h1>
        <Known data={data} />
        <form class="form" method="post" action={urls.bisects()}>
          <input type="hidden" name="_csrf" value={frame.person?.csrf ?? ''} />
          <label for="tree">Tree</label>
          <select id="tree" name="tree" required>
            {trees.map((tree) => (
              <option value={tree.name} selected={tree.name === wanted.tree}>
                {tree.name}
              </option>
            ))}
          </select>
          <label for="good">Good commit</label>
          <input type="text" id="good" name="good" required value={wanted.good} minLength={7} maxLength={100} />
          <label for="bad">Bad commit</label>
          <input type="text" id="bad" name="bad" required value={wanted.bad} minLength={7} maxLength={100} />
          <label for="testcase">Testcase</label>
          <select id="testcase" name="testcase" required>
            {testcases.map((one) => (
              <option value={one.id} selected={one.id === wanted.testcase}>
                {one.name} on {one.tbox_group}
              </option>
            ))}
          </select>
          <label for="metric">Metric</label>
          <input
            type="text"
            id="metric"
            name="metric"
            required
            list="metrics"
            value={wanted.metric ?? metrics[0]?.name}
            maxLength={300}
          />
          <datalist id="metrics">
            {metrics.slice(0, 500).map((metric) => (
              <option value={metric.name} />
            ))}
          </datalist>
          <label for="budget">Budget, boots</label>
          <input type="number" id="budget" name="budget" min="2" max="1000" value={wanted.budget} />
          <label for="certainty">Certainty</label>
          <input
            type="number"
            id="certainty"
            name="certainty"
            min="0.5"
            max="0.999"
            step="0.001"
            value={wanted.certainty}
          />
          {may ? (
            <button type="submit" class="primary">
              Start
            </button>
          ) : (
            <p class="quiet">
              <a href={urls.signIn(frame.path)}>Sign in</a> with a token that has the scope <code>bisect</code> to start
              it.
            </p>
          )}
        </form>
      </>
    ),
  });
}

function Known({ data }: { data: NewBisectPage }) {
  const { range, steps, queue, pair, marks, wanted } = data;
  const perStep = queue.boot_seconds;
  return (
    <dl class="facts">
      <div>
        <dt>range</dt>
        <dd>
          {range.length === 0
            ? 'known when both commits are'
            : range.length === 1
              ? '1 commit: there is nothing to search in; name an older good or a newer bad one'
              : `${range.length} commits`}
        </dd>
      </div>
      <div>
        <dt>cost</dt>
        <dd>
          {steps
            ? `about ${steps} kernels between the ends, on a quiet metric ${steps + 4} boots or more; at most ${wanted.budget}`
            : '–'}
          {steps && perStep ? (
            <span class="quiet">
              {' '}
              (a boot takes {seconds(perStep)}; {queue.boots} boots wait before it)
            </span>
          ) : null}
        </dd>
      </div>
      {pair ? (
        <div>
          <dt>from</dt>
          <dd>
            <a href={urls.pair(pair.id)}>pair {pair.id}</a> <VerdictMark verdict={pair.verdict} />
          </dd>
        </div>
      ) : null}
      <div>
        <dt>known</dt>
        <dd>
          {marks.length ? (
            marks.map((mark, i) => (
              <>
                {i ? '; ' : ''}
                <a href={urls.pair(mark.pair_id)}>pair {mark.pair_id}</a> {mark.verdict}
                {mark.bisect_id ? (
                  <>
                    , <a href={urls.bisect(mark.bisect_id)}>bisect {mark.bisect_id}</a>
                  </>
                ) : null}
              </>
            ))
          ) : (
            <Empty>no pair shows a change of this metric</Empty>
          )}
        </dd>
      </div>
    </dl>
  );
}
