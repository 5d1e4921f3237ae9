/**
 * Errors of the kernel builders. `KD_CACHE_DIR` the cache folder can't be written; `KD_KERNEL_UNKNOWN` no such
 * package (with the near matches); `KD_KCONFIG` a kconfig file or target is missing; `KD_TOOL_MISSING` a program
 * is not installed; `KD_SANDBOX` bubblewrap can't start here; `KD_ABORTED` the caller's signal fired.
 */
export class KernelError extends Error {
  readonly code: KernelErrorCode;

  constructor(code: KernelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KernelError';
    this.code = code;
  }
}

export type KernelErrorCode =
  | 'KD_CACHE_DIR'
  | 'KD_KERNEL_UNKNOWN'
  | 'KD_KCONFIG'
  | 'KD_TOOL_MISSING'
  | 'KD_SANDBOX'
  | 'KD_ABORTED';

/** Ends a build inside the builder; buildKernel turns it into an outcome. */
export class BuildFailed extends Error {
  readonly failureClass: 'build' | 'infra';

  constructor(failureClass: 'build' | 'infra', message: string) {
    super(message);
    this.failureClass = failureClass;
  }
}
