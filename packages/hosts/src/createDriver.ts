import type { HostFile } from '@kdelta/jobs';
import { BootError } from './errors.ts';
import { kexecDriver } from './kexec.ts';
import { noneDriver } from './none.ts';
import { type HostContext, qemuDriver } from './qemu.ts';
import type { HostDriver } from './types.ts';

/** The driver for a host file's boot method. */
export function createDriver(host: HostFile, ctx: HostContext): HostDriver {
  switch (host.boot.method) {
    case 'qemu':
      return qemuDriver(host, ctx);
    case 'kexec':
      return kexecDriver(host, ctx);
    case 'none':
      return noneDriver(host);
    case 'grub':
      throw new BootError(
        'KD_HOST_SETUP',
        'infra',
        `${host.file}: boot method grub is not there yet; use kexec or none`,
      );
  }
}
