/** What can be wrong with a matrix; `code` is stable, the message says where and what would be right. */
export class MatrixError extends Error {
  readonly code: 'KD_MATRIX_SYNTAX' | 'KD_MATRIX_SHAPE' | 'KD_MATRIX_EMPTY' | 'KD_MATRIX_TOO_LARGE';

  constructor(code: MatrixError['code'], message: string) {
    super(message);
    this.name = 'MatrixError';
    this.code = code;
  }
}
