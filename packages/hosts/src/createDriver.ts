import type { HostFile } from '@kdelta/jobs';
import { type HostContext, qemuDriver } from './qemu.ts';
import type { HostDriver } from './types.ts';

/** The driver for a host file's boot method. */
export function createDriver(host: HostFile, ctx: HostContext): HostDriver {
  switch (host.boot.method) {
    case 'qemu':
      return qemuDriver(host, ctx);
    default:
      throw new Error(`${host.file}: boot.method ${host.boot.method} is not supported`);
  }
}
