import { value } from '../../numbers.ts';
import { type Frame, page } from '../../parts/layout.tsx';
import { Empty, KernelName, Time } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { MapanonColumn, MapanonPage } from './data.ts';

const TITLES: Record<MapanonPage['graphs'][number], string> = {
  time: 'Access time, to the 99.9th percentile of all boots here',
  'time-unscaled': 'Access time, to the slowest of all boots here',
  'presence-refcount': 'Presence (green) over reference count (blue)',
  'presence-age': 'Presence (green) over age (blue)',
  pages: 'Page index over time',
  vmstat: 'vmstat: swpd orange, free green, cache violet, buff blue',
};

/** As in VM Regress's report, in its order; µs unless said. */
const FIGURES: [metric: string, name: string, unit: string][] = [
  ['duration', 'duration', 's'],
  ['access_min', 'fastest access', 'µs'],
  ['access_avg', 'average access', 'µs'],
  ['access_p99', '99th percentile', 'µs'],
  ['access_max', 'slowest access', 'µs'],
  ['accesses_over_1ms', 'accesses over 1 ms', ''],
  ['munmap', 'unmapping', 'µs'],
  ['pages_touched', 'pages touched', ''],
  ['present', 'present', ''],
  ['swapped', 'swapped out', ''],
  ['file_present', 'of the file, present', ''],
  ['major_faults', 'major faults', ''],
  ['minor_faults', 'minor faults', ''],
  ['swap_in', 'pages swapped in', ''],
  ['swap_out', 'pages swapped out', ''],
  ['retention_refcount', 'kept of the most used', ''],
  ['retention_age', 'kept of the most recently used', ''],
];

const SETTINGS = [
  'pattern',
  'op',
  'mapping',
  'range',
  'references',
  'seed',
  'limit_pct',
  'swap',
  'swappiness',
  'lru_gen',
];

export function renderMapanon(frame: Frame, data: MapanonPage): string {
  const { columns, graphs, others, ids, query } = data;
  const hashes = new Set(columns.map((column) => column.references).filter((hash) => hash !== null));
  const figures = FIGURES.filter(([metric]) => columns.some((column) => column.figures.has(metric)));
  const settings = SETTINGS.filter((name) => columns.some((column) => column.boot.params[name]));
  const instances = [...new Set(columns.flatMap((column) => column.instances))].sort((a, b) => a - b).slice(0, 200);
  return page(frame, {
    title: `mapanon, boots ${ids.join(' and ')}`,
    wide: true,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            {columns[0]!.boot.testcase} on {columns[0]!.boot.tbox_group}
          </p>
          <h1>
            <span class="line">mapanon: {ids.length === 1 ? 'one boot' : `${ids.length} boots side by side`}</span>
          </h1>
          <p class="quiet">
            All graphs of a row share their scales.{' '}
            {hashes.size === 1 && columns.length > 1 ? 'The same references were replayed in each.' : null}
            {hashes.size > 1 ? (
              <b>The references differ: these boots didn’t touch the same pages in the same order.</b>
            ) : null}
          </p>
        </header>
        <div class="scroll">
          <table class="side">
            <thead>
              <tr>
                <th scope="col">Boot</th>
                {columns.map(({ boot }) => (
                  <th scope="col">
                    <a href={urls.boot(boot.id)}>boot {boot.id}</a>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              <Row name="kernel" columns={columns}>
                {({ boot }) => (
                  <>
                    <KernelName kernel={{ ...boot, id: boot.kernel_id }} /> <code>{boot.release}</code>
                  </>
                )}
              </Row>
              <Row name="started" columns={columns}>
                {({ boot }) => <Time at={boot.started_at} now={frame.now} />}
              </Row>
              <Row name="kernel messages" columns={columns}>
                {({ boot }) => <a href={urls.bootFile(boot.id, 'dmesg')}>dmesg</a>}
              </Row>
              {settings.map((name) => (
                <Row name={name} columns={columns}>
                  {({ boot }) => boot.params[name] ?? ''}
                </Row>
              ))}
              {figures.map(([metric, name, unit]) => (
                <Row name={name} columns={columns}>
                  {(column) =>
                    column.figures.has(metric) ? `${value(column.figures.get(metric)!)}${unit && ` ${unit}`}` : '–'
                  }
                </Row>
              ))}
            </tbody>
          </table>
        </div>
        {instances.length > 1 ? (
          <nav class="quiet" aria-label="Instances">
            instance:{' '}
            {instances.map((n) => (
              <>
                <a href={urls.mapanon(ids, n)} aria-current={n === query.instance ? 'page' : undefined}>
                  {n}
                </a>{' '}
              </>
            ))}
          </nav>
        ) : null}
        {columns.map((column) =>
          column.why ? (
            <Empty>
              No graphs of boot {column.boot.id}: {column.why}.
            </Empty>
          ) : null,
        )}
        {graphs.map((name) => (
          <section aria-labelledby={`graph-${name}`}>
            <h2 id={`graph-${name}`}>{TITLES[name]}</h2>
            <div class={`abreast of${columns.length}`}>
              {columns.map((column) =>
                column.graphs[name] ? (
                  // Drawn by kdelta from numbers; the names in it are escaped there.
                  <figure dangerouslySetInnerHTML={{ __html: column.graphs[name]! }} />
                ) : (
                  <figure>
                    <Empty>Not drawn for boot {column.boot.id}.</Empty>
                  </figure>
                ),
              )}
            </div>
          </section>
        ))}
        <section aria-labelledby="others">
          <h2 id="others">Beside another boot</h2>
          {others.length ? (
            <ul class="plain">
              {others.map((boot) => (
                <li>
                  <a href={urls.mapanon([ids[0]!, boot.id])}>boot {boot.id}</a> {boot.package ?? boot.sha?.slice(0, 12)}{' '}
                  <Time at={boot.finished_at} now={frame.now} />
                </li>
              ))}
            </ul>
          ) : (
            <Empty>No other boot of this testcase is done.</Empty>
          )}
          <form class="filters" method="get" action="/mapanon">
            <label>
              boots{' '}
              <input name="boots" required pattern="[0-9]+(,[0-9]+){0,3}" value={ids.join(',')} placeholder="12,34" />
            </label>
            <button type="submit">Show</button>
          </form>
        </section>
      </>
    ),
  });
}

function Row(props: {
  name: string;
  columns: MapanonColumn[];
  children: (column: MapanonColumn) => preact.ComponentChildren;
}) {
  return (
    <tr>
      <th scope="row">{props.name}</th>
      {props.columns.map((column) => (
        <td>{props.children(column)}</td>
      ))}
    </tr>
  );
}
