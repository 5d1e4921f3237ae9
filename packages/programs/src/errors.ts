export type ProgramErrorCode =
  | 'KD_PROGRAM_META'
  | 'KD_PROGRAM_UNKNOWN'
  | 'KD_PROGRAM_BUILD'
  | 'KD_PROGRAM_SOURCE'
  | 'KD_PROGRAM_PARSER';

/** A program folder that can't be used. `message` says which file, what is wrong and what would be right. */
export class ProgramError extends Error {
  constructor(
    readonly code: ProgramErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'ProgramError';
  }
}
