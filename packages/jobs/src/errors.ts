/**
 * A file that a person wrote is wrong. `message` is the one line to print: file, line, key, what is wrong, what would
 * be right. Programs end with exit status 2 on it.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly exitStatus = 2;
  constructor(
    readonly code: 'KD_YAML_SYNTAX' | 'KD_JOB_INVALID' | 'KD_HOST_INVALID' | 'KD_CONFIG_INVALID',
    readonly file: string,
    readonly line: number,
    /** Dotted path of the key, empty for the file as a whole. */
    readonly key: string,
    readonly what: string,
  ) {
    super(`${file}:${line}: ${key === '' ? '' : `${key}: `}${what}`);
  }
}
