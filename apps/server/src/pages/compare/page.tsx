import { isReported } from '@kdelta/stats';
import type { Comparison } from '../../compare.ts';
import { chooseDeltas, type DeltaQuery } from '../../deltas.ts';
import { DeltaTable } from '../../parts/deltaTable.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import { KernelName, VerdictMark } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';

export function renderCompare(frame: Frame, data: Comparison, query: DeltaQuery): string {
  const { judgement, base, head, testcase, boots } = data;
  const kpis = judgement.deltas.filter((delta) => delta.kpi);
  const rest = chooseDeltas(judgement.deltas, query).filter((delta) => !delta.kpi);
  const hrefOf = (metric: string) => urls.history({ testcase: testcase.id, metric });
  return page(frame, {
    title: 'Comparison',
    children: (
      <>
        <header class={`lead ${judgement.verdict}`}>
          <p class="crumbs">
            comparison on request / {testcase.name} on {testcase.tbox_group}
          </p>
          <h1>
            <VerdictMark verdict={judgement.verdict} /> <span class="line">{judgement.line}</span>
          </h1>
          <dl class="facts">
            <div>
              <dt>base</dt>
              <dd>
                <KernelName kernel={base} /> {boots.base.length} boots
              </dd>
            </div>
            <div>
              <dt>head</dt>
              <dd>
                <KernelName kernel={head} /> {boots.head.length} boots
              </dd>
            </div>
          </dl>
          {testcase.name.startsWith('mapanon') ? (
            <p>
              <a href={urls.mapanon([boots.base.at(-1)!, boots.head.at(-1)!])}>Graphs of mapanon, side by side</a>
            </p>
          ) : null}
          <p class="quiet">
            These boots were not interleaved and may lie days apart: drift of the host can look like a change. A pair is
            the better witness.
          </p>
        </header>
        <section>
          <h2>KPIs</h2>
          <DeltaTable deltas={kpis} kind="kpi" hrefOf={hrefOf} />
        </section>
        <section>
          <h2>
            Evidence{' '}
            <small>
              {rest.filter(isReported).length} of {judgement.deltas.length} changed
            </small>
          </h2>
          <DeltaTable deltas={rest.slice(0, 300)} kind="evidence" hrefOf={hrefOf} />
        </section>
      </>
    ),
  });
}
