import type { BootFailureClass } from './types.ts';

export type BootErrorCode =
  /** What kdelta needs on its own machine is missing or broken (QEMU, mmdebstrap, disk). */
  | 'KD_HOST_SETUP'
  /** The host lacks packages of the testcase. */
  | 'KD_HOST_PACKAGES'
  /** No SSH to the host. */
  | 'KD_HOST_UNREACHABLE'
  /** The host showed another key than the pinned one. */
  | 'KD_HOST_KEY'
  /** The image on the host isn't the one that was built. */
  | 'KD_BOOT_IMAGE'
  | 'KD_BOOT_PANIC'
  /** The guest fell over a fault of QEMU. */
  | 'KD_EMULATOR'
  | 'KD_BOOT_HANG'
  /** The guest ended before anybody logged in. */
  | 'KD_BOOT_EXIT'
  /** Another kernel answers than the one that was ordered. */
  | 'KD_BOOT_WRONG_KERNEL'
  | 'KD_BOOT_STOPPED';

/** A boot that didn't come to a proven kernel. `class` decides what follows: `boot` blames the kernel, `infra` doesn't. */
export class BootError extends Error {
  override readonly name = 'BootError';
  constructor(
    readonly code: BootErrorCode,
    readonly failureClass: BootFailureClass,
    message: string,
    /** The console's last lines, cleaned of control characters. */
    readonly console = '',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export type ShellErrorCode =
  | 'KD_SSH_REFUSED'
  | 'KD_SSH_KEY'
  | 'KD_SSH_LOST'
  | 'KD_SSH_TIMEOUT'
  | 'KD_SSH_TOO_MUCH'
  | 'KD_SSH_CLOSED';

/** A command over SSH that has no exit status: the connection, not the command, failed. */
export class ShellError extends Error {
  override readonly name = 'ShellError';
  constructor(
    readonly code: ShellErrorCode,
    message: string,
  ) {
    super(message);
  }
}
