import type { NoiseRow } from '@kdelta/store';
import { value } from '../../numbers.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { Empty } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';

export function renderNoise(frame: Frame, noise: NoiseRow[], shown: { testcase?: number; all: boolean }): string {
  const most = Math.max(0.01, ...noise.map((row) => row.within_pct ?? 0));
  return page(frame, {
    title: 'Noise',
    children: (
      <>
        <h1>Noise</h1>
        <p class="quiet">
          How far the boots of one kernel scatter (standard deviation, pooled over kernels, older boots fading), and how
          far the kernels’ means lie apart, for each {shown.all ? 'metric' : 'KPI'} and testcase over its last 128
          boots, as of its last judgement. What is noisy here needs more boots to show a change.{' '}
          <a href={urls.noise({ testcase: shown.testcase, metrics: shown.all ? undefined : 'all' })}>
            {shown.all ? 'KPIs only' : 'All metrics'}
          </a>
        </p>
        {noise.length ? (
          <div class="scroll" tabIndex={0} role="region" aria-label="Noise">
            <table>
              <thead>
                <tr>
                  <th scope="col">{shown.all ? 'Metric' : 'KPI'}</th>
                  <th scope="col">Testcase</th>
                  <th scope="col">Host group</th>
                  <th scope="col" class="n">
                    Boot to boot
                  </th>
                  <th scope="col">
                    <span class="hidden">Bar</span>
                  </th>
                  <th scope="col" class="n">
                    Between kernels
                  </th>
                  <th scope="col" class="n">
                    Kernels
                  </th>
                  <th scope="col" class="n">
                    Boots
                  </th>
                </tr>
              </thead>
              <tbody>
                {noise.map((row) => (
                  <tr>
                    <td>
                      <a href={urls.history({ testcase: row.testcase_id, metric: row.metric })}>{row.metric}</a>
                    </td>
                    <td>{row.testcase}</td>
                    <td>{row.tbox_group}</td>
                    <td class="n">
                      {row.within_pct === null ? '–' : `${value(Number(row.within_pct.toPrecision(3)))} %`}
                    </td>
                    <td>
                      <svg class="bar" viewBox="0 0 120 10" width="120" height="10" aria-hidden="true">
                        <rect width={Math.round(((row.within_pct ?? 0) / most) * 120)} height="10" />
                      </svg>
                    </td>
                    <td class="n">
                      {row.between_pct === null ? '–' : `${value(Number(row.between_pct.toPrecision(3)))} %`}
                    </td>
                    <td class="n">{row.kernels}</td>
                    <td class="n">{row.boots}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <Empty>No pair has been judged yet.</Empty>
        )}
      </>
    ),
  });
}
