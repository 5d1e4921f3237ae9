import { bytes, seconds } from '../../numbers.ts';
import { BootTable } from '../../parts/bootTable.tsx';
import { KernelTable } from '../../parts/kernelTable.tsx';
import { type Frame, page } from '../../parts/layout.tsx';
import { Commit, Empty, FailureBox, StateMark, Time, visible } from '../../parts/words.tsx';
import { urls } from '../../urls.ts';
import type { KernelPage } from './data.ts';

export function renderKernel(frame: Frame, data: KernelPage): string {
  const { kernel, files, boots, others, log } = data;
  const facts: [string, preact.ComponentChildren][] = [
    [
      'commit',
      kernel.sha ? (
        <Commit sha={kernel.sha} subject={kernel.subject} />
      ) : (
        `${kernel.package} ${kernel.package_version ?? ''}`
      ),
    ],
    ['release', <code>{kernel.release ?? '–'}</code>],
    ['kconfig', `${kernel.kconfig || '–'} ${kernel.kconfig_hash.slice(0, 12)}`],
    ['compiler', kernel.compiler || '–'],
    ['parameters', <code>{kernel.cmdline || 'none'}</code>],
    ['build id', <code>{kernel.build_id?.slice(0, 40) ?? '–'}</code>],
    ['image', bytes(kernel.image_bytes)],
    [
      'built',
      <>
        <Time at={kernel.built_at} now={frame.now} />
        {kernel.build_ms === null ? null : <span class="quiet"> in {seconds(kernel.build_ms / 1000)}</span>}
      </>,
    ],
  ];
  return page(frame, {
    title: `Kernel ${kernel.id}`,
    live: kernel.state === 'wanted' || kernel.state === 'building' ? `kernel:${kernel.id}` : undefined,
    children: (
      <>
        <header class="lead">
          <p class="crumbs">
            {kernel.tree ? <a href={urls.pairs({ tree: kernel.tree })}>{kernel.tree}</a> : kernel.kind} / kernel{' '}
            {kernel.id}
          </p>
          <h1>
            <StateMark state={kernel.state} /> <span class="line">kernel {kernel.release ?? kernel.id}</span>
          </h1>
          <dl class="facts">
            {facts.map(([name, text]) => (
              <div>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
          {kernel.same_as ? (
            <p>
              Its loadable sections equal those of <a href={urls.kernel(kernel.same_as)}>kernel {kernel.same_as}</a>:
              boots of that one count for it.
            </p>
          ) : null}
        </header>
        <FailureBox failure={kernel.failure} />
        <div class="columns">
          <section>
            <h2>Config against another kernel</h2>
            <form class="filters" method="get" action={urls.kernel(kernel.id)}>
              <label>
                kernel <input type="number" name="against" min="1" required value={data.against} />
              </label>
              <button type="submit">Compare</button>
            </form>
            {data.diff ? <Diff data={data} /> : <Empty>Name another kernel to see in which options they differ.</Empty>}
          </section>
          <section>
            <h2>Files</h2>
            {files.length ? (
              <ul class="plain">
                {files.map((file) => (
                  <li>
                    <a href={urls.kernelFile(kernel.id, file.name)}>{file.name}</a>{' '}
                    <span class="quiet">{bytes(file.bytes)}</span>
                  </li>
                ))}
              </ul>
            ) : (
              <Empty>No file is kept.</Empty>
            )}
          </section>
        </div>
        {log ? (
          <section>
            <h2>
              Build log <small>{log.cut ? 'its end' : 'all of it'}</small>
            </h2>
            <pre class="log" tabIndex={0}>
              {visible(log.text)}
            </pre>
          </section>
        ) : null}
        {others.length ? (
          <section>
            <h2>Other kernels of this commit</h2>
            <KernelTable kernels={others} />
          </section>
        ) : null}
        <section>
          <h2>Boots</h2>
          {boots.length ? <BootTable boots={boots} now={frame.now} /> : <Empty>It was never booted.</Empty>}
        </section>
      </>
    ),
  });
}

function Diff({ data }: { data: KernelPage }) {
  const diff = data.diff ?? [];
  if (!diff.length) return <Empty>The configs are equal.</Empty>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Option</th>
          <th scope="col">kernel {data.against}</th>
          <th scope="col">kernel {data.kernel.id}</th>
        </tr>
      </thead>
      <tbody>
        {diff.slice(0, 500).map((row) => (
          <tr>
            <th scope="row">
              <code>{row.option}</code>
            </th>
            <td>
              <code>{row.before ?? '–'}</code>
            </td>
            <td>
              <code>{row.after ?? '–'}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
