import type { PairFilter, PairRow } from '@kdelta/store';
import { VERDICTS } from '../../deltas.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { Choice, More } from '../../parts/more.tsx';
import { PairTable } from '../../parts/pairTable.tsx';
import { Empty } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';

export function renderPairs(frame: Frame, pairs: PairRow[], filter: PairFilter): string {
  const trees = frame.ctx.config.trees.map((tree) => tree.name);
  return page(frame, {
    title: 'Pairs',
    children: (
      <>
        <h1>Pairs</h1>
        <form class="filters" method="get" action={urls.pairs()}>
          <Choice name="tree" label="tree" value={filter.tree} options={trees} />
          <input name="branch" placeholder="branch" aria-label="Branch" value={filter.branch} />
          <Choice name="verdict" label="verdict" value={filter.verdict} options={VERDICTS} />
          <Choice
            name="state"
            label="state"
            value={filter.state}
            options={['planned', 'booting', 'judging', 'judged', 'failed', 'cancelled']}
          />
          <input name="program" placeholder="program" aria-label="Program" value={filter.program} />
          <input name="tbox_group" placeholder="host group" aria-label="Host group" value={filter.tbox_group} />
          <button type="submit">Show</button>
          <a href={urls.pairs()}>reset</a>
        </form>
        {pairs.length ? <PairTable pairs={pairs} now={frame.now} /> : <Empty>No pair matches.</Empty>}
        <More path="/pairs" filter={{ ...filter }} items={pairs} />
      </>
    ),
  });
}
