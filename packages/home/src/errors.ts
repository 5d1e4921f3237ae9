/** An error of kdelta's own house-keeping; `code` is stable, the message says what to do. */
export class HomeError extends Error {
  constructor(
    readonly code: 'KD_POSTGRES_START' | 'KD_REDIS_START' | 'KD_PROGRAM_MISSING' | 'KD_STATE_LOCKED',
    message: string,
  ) {
    super(`${code}: ${message}`);
    this.name = 'HomeError';
  }
}
