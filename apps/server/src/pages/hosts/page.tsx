import type { BootRow, EventRow, HostNoisePoint, HostRow } from '@kdelta/store';
import { seconds, value } from '../../numbers.ts';
import { BootTable } from '../../parts/bootTable.tsx';
import { EventList } from '../../parts/events.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import { Empty, StateMark } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';

export function renderHosts(frame: Frame, hosts: HostRow[]): string {
  return page(frame, {
    title: 'Hosts',
    live: 'hosts',
    children: (
      <>
        <h1>Hosts</h1>
        {hosts.length ? (
          <div class="scroll" tabIndex={0} role="region" aria-label="Hosts">
            <table>
              <thead>
                <tr>
                  <th scope="col">Host</th>
                  <th scope="col">Group</th>
                  <th scope="col">State</th>
                  <th scope="col">Runs</th>
                  <th scope="col" class="n">
                    Done today
                  </th>
                  <th scope="col" class="n">
                    Failed today
                  </th>
                  <th scope="col">Health</th>
                </tr>
              </thead>
              <tbody>
                {hosts.map((host) => (
                  <tr>
                    <td>
                      <a href={urls.host(host.name)}>{host.name}</a>
                    </td>
                    <td>{host.tbox_group}</td>
                    <td>
                      <StateMark state={host.state} /> <span class="quiet">{host.note}</span>
                    </td>
                    <td>
                      {host.state === 'leased' && host.lease_boot_id ? (
                        <a href={urls.boot(host.lease_boot_id)}>boot {host.lease_boot_id}</a>
                      ) : (
                        '–'
                      )}
                    </td>
                    <td class="n">{host.done_day}</td>
                    <td class="n">{host.failed_day}</td>
                    <td>{facts(host.health)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <Empty>No host yet: `hosts/*.yaml` name them.</Empty>
        )}
      </>
    ),
  });
}

const facts = (health: Record<string, unknown> | null) =>
  Object.entries(health ?? {})
    .filter(([, fact]) => typeof fact !== 'object')
    .map(([name, fact]) => `${name} ${fact}`)
    .join(', ') || '–';

export function renderHost(
  frame: Frame,
  data: { host: HostRow; boots: BootRow[]; noise: HostNoisePoint[]; events: EventRow[] },
): string {
  const { host, boots, noise, events } = data;
  const admin = frame.person?.scopes.includes('admin');
  const ended = boots.filter((boot) => boot.started_at && boot.finished_at);
  const mean =
    ended.reduce((sum, boot) => sum + (boot.finished_at!.getTime() - boot.started_at!.getTime()) / 1000, 0) /
    (ended.length || 1);
  const out = host.state === 'maintenance' || host.state === 'quarantined';
  return page(frame, {
    title: host.name,
    live: `host:${host.id}`,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            <a href={urls.hosts()}>hosts</a> / {host.tbox_group}
          </p>
          <h1>
            <StateMark state={host.state} /> <span class="line">{host.name}</span>{' '}
            {host.note ? <small>{host.note}</small> : null}
          </h1>
          <dl class="facts">
            <div>
              <dt>today</dt>
              <dd>
                {host.done_day} boots done, {host.failed_day} failed; {host.failures} failures in a row
              </dd>
            </div>
            <div>
              <dt>a boot takes</dt>
              <dd>{ended.length ? `${seconds(mean)} on average of the last ${ended.length}` : '–'}</dd>
            </div>
            <div>
              <dt>health</dt>
              <dd>{facts(host.health)}</dd>
            </div>
          </dl>
          {admin ? (
            <form class="actions" method="post" action={`${urls.host(host.name)}/${out ? 'bring-back' : 'take-out'}`}>
              <input type="hidden" name="_csrf" value={frame.person?.csrf ?? ''} />
              {out ? null : (
                <label>
                  why <input name="note" maxLength={300} />
                </label>
              )}
              <button type="submit">{out ? 'Bring back' : 'Take out'}</button>
            </form>
          ) : null}
        </header>
        <section>
          <h2>
            Noise <small>boot-to-boot standard deviation of each KPI, by day</small>
          </h2>
          {noise.length ? <NoiseByDay noise={noise} /> : <Empty>Too few boots to tell.</Empty>}
        </section>
        <section>
          <h2>What ran</h2>
          {boots.length ? <BootTable boots={boots} now={frame.now} /> : <Empty>Nothing yet.</Empty>}
        </section>
        <div class="columns">
          <section>
            <h2>Who did what</h2>
            <EventList events={events} now={frame.now} />
          </section>
          <section>
            <h2>Host file as loaded</h2>
            <pre tabIndex={0}>{JSON.stringify(host.config, null, 2)}</pre>
          </section>
        </div>
      </>
    ),
  });
}

function NoiseByDay({ noise }: { noise: HostNoisePoint[] }) {
  const groups = new Map<string, HostNoisePoint[]>();
  for (const point of noise) {
    const key = `${point.metric} at ${point.testcase}`;
    groups.set(key, [...(groups.get(key) ?? []), point]);
  }
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Noise by day">
      <table>
        <thead>
          <tr>
            <th scope="col">KPI</th>
            <th scope="col" class="n">
              Last
            </th>
            <th scope="col" class="n">
              Largest
            </th>
            <th scope="col">By day</th>
          </tr>
        </thead>
        <tbody>
          {[...groups].map(([key, points]) => {
            const most = Math.max(...points.map((point) => point.within_pct), 0.0001);
            return (
              <tr>
                <th scope="row">{key}</th>
                <td class="n">{value(points.at(-1)!.within_pct)} %</td>
                <td class="n">{value(most)} %</td>
                <td>
                  <svg
                    class="spark"
                    viewBox={`0 0 ${points.length * 6} 24`}
                    width={points.length * 6}
                    height="24"
                    role="img"
                    aria-label="noise by day"
                  >
                    {points.map((point, i) => (
                      <rect
                        x={i * 6}
                        width="5"
                        y={22 - (point.within_pct / most) * 20}
                        height={(point.within_pct / most) * 20}
                      >
                        <title>{`${point.day}: ${value(point.within_pct)} %, ${point.boots} boots`}</title>
                      </rect>
                    ))}
                  </svg>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
