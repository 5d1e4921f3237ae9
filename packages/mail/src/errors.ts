export type MailErrorCode =
  /** Nobody is left to mail: every address was dropped or is outside the tree's `allow`. */
  | 'KD_MAIL_NOBODY'
  /** A From address, Message-ID or header that can't be written. */
  | 'KD_MAIL_BAD_HEADER'
  /** The envelope holds an address that the tree's rules don't allow. Nothing was sent. */
  | 'KD_MAIL_NOT_ALLOWED';

export class MailError extends Error {
  /** The command's exit status: the request was wrong. */
  readonly exitStatus = 2;
  constructor(
    readonly code: MailErrorCode,
    message: string,
  ) {
    super(`${code}: ${message}`);
    this.name = 'MailError';
  }
}
