import type { KernelRow } from '@kdelta/store';
import { bytes, seconds } from '../numbers.ts';
import { urls } from '../urls.ts';
import { StateMark } from './words.tsx';

export function KernelTable({ kernels }: { kernels: KernelRow[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Kernels">
      <table>
        <thead>
          <tr>
            <th scope="col">Kernel</th>
            <th scope="col">State</th>
            <th scope="col">kconfig</th>
            <th scope="col">Compiler</th>
            <th scope="col">Boot parameters</th>
            <th scope="col">Release</th>
            <th scope="col" class="n">
              Image
            </th>
            <th scope="col" class="n">
              Built in
            </th>
          </tr>
        </thead>
        <tbody>
          {kernels.map((kernel) => (
            <tr>
              <td>
                <a href={urls.kernel(kernel.id)}>kernel {kernel.id}</a>
                {kernel.same_as ? (
                  <span class="quiet">
                    {' '}
                    the same as <a href={urls.kernel(kernel.same_as)}>kernel {kernel.same_as}</a>
                  </span>
                ) : null}
              </td>
              <td>
                <StateMark state={kernel.state} /> {kernel.failure?.message}
              </td>
              <td>{kernel.kconfig || '–'}</td>
              <td>{kernel.compiler || '–'}</td>
              <td>
                <code>{kernel.cmdline || '–'}</code>
              </td>
              <td>
                <code>{kernel.release ?? '–'}</code>
              </td>
              <td class="n">{bytes(kernel.image_bytes)}</td>
              <td class="n">{kernel.build_ms === null ? '–' : seconds(kernel.build_ms / 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
