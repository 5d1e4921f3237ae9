/** Errors of the bisect package. `code` is stable; the message says what to do. */
export type BisectErrorCode =
  | 'KD_BISECT_GOOD_IS_BAD'
  | 'KD_BISECT_EMPTY_RANGE'
  | 'KD_BISECT_UNKNOWN_COMMIT'
  | 'KD_BISECT_BAD_VALUE'
  | 'KD_BISECT_BAD_OPTION'
  | 'KD_BISECT_NOT_A_GRAPH';

export class BisectError extends Error {
  constructor(
    readonly code: BisectErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'BisectError';
  }
}
