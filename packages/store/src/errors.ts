export type StoreErrorCode = 'KD_CLAIM_LOST' | 'KD_LEASE_LOST' | 'KD_ARTIFACT_MISSING' | 'KD_SAMPLE_NOT_FINITE';

/** An error of the store; `code` is stable. */
export class StoreError extends Error {
  constructor(
    readonly code: StoreErrorCode,
    message: string,
  ) {
    super(`${code}: ${message}`);
    this.name = 'StoreError';
  }
}
