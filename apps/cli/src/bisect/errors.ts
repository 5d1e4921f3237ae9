/** Bad input or usage: one line, exit status 2. */
export class UsageError extends Error {}

/** Could not be done: one line, exit status 3. */
export class CannotError extends Error {}
