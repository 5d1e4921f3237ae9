/**
 * Errors of git work. `KD_GIT_URL` a tree's URL that isn't allowed; `KD_GIT_FETCH` a remote that can't be fetched (try
 * again later); `KD_GIT_REFERENCE` the local repository to borrow from isn't one; `KD_GIT_UNKNOWN` no such commit, branch or
 * tag (with the near matches); `KD_GIT_REF` text that can't be a ref or commit; `KD_GIT` anything else git refused; `KD_ABORTED`.
 */
export class GitError extends Error {
  readonly code: GitErrorCode;

  constructor(code: GitErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GitError';
    this.code = code;
  }
}

export type GitErrorCode =
  | 'KD_GIT_URL'
  | 'KD_GIT_FETCH'
  | 'KD_GIT_REFERENCE'
  | 'KD_GIT_UNKNOWN'
  | 'KD_GIT_REF'
  | 'KD_GIT'
  | 'KD_ABORTED';
