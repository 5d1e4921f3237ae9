import type { HostFile } from '@kdelta/jobs';
import { BootError } from './errors.ts';
import { readEvidence } from './evidence.ts';
import { readyPackages } from './hostPackages.ts';
import { labTarget, logIn } from './labShell.ts';
import { machineVersions } from './machineVersions.ts';
import type { BootOrder, HostDriver, TimelineEntry } from './types.ts';

/** A machine that keeps its kernel: the ordered kernel must be the one that runs, and no boot takes place. */
export function noneDriver(host: HostFile): HostDriver {
  const attach = async (order: BootOrder) => {
    const timeline: TimelineEntry[] = [{ at: Date.now(), what: 'boot start' }];
    const shell = await logIn(await labTarget(host));
    const evidence = await readEvidence(shell);
    if (evidence.release !== order.kernel.release) {
      shell.close();
      throw new BootError(
        'KD_BOOT_WRONG_KERNEL',
        'infra',
        `${host.name} keeps its kernel ${evidence.release} (boot method none); ordered was ${order.kernel.release}`,
      );
    }
    await readyPackages(shell, host, order.requiredPackages ?? []).catch((error) => {
      shell.close();
      throw error;
    });
    timeline.push({ at: Date.now(), what: 'first login' });
    return {
      evidence,
      shell,
      timeline,
      // A lost connection is tried again by the shell itself; nothing here can tell more.
      died: new Promise<never>(() => {}),
      console: async () => '',
      async release() {
        shell.close();
        timeline.push({ at: Date.now(), what: 'released' });
      },
    };
  };
  return {
    host,
    boot: attach,
    reattach: attach,
    async clear() {},
    async versions() {
      const shell = await logIn(await labTarget(host));
      try {
        return await machineVersions(shell);
      } finally {
        shell.close();
      }
    },
  };
}
