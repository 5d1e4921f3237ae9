import type { z } from 'zod';
import { Problem } from '../problems.ts';

/** The responses of an operation: its answer, and the problem documents that any of them may give. */
export function answers<T extends z.ZodType>(ok: T, description = 'The answer') {
  return { 200: ok.describe(description), ...problems };
}

export const problems = {
  400: Problem.describe('The request is wrong; `errors` says where'),
  401: Problem.describe('A token is needed, or this one is unknown, revoked or expired'),
  403: Problem.describe('The token lacks the scope'),
  404: Problem.describe('There is no such thing'),
  429: Problem.describe('Too many requests; Retry-After says when'),
  503: Problem.describe('The database is away'),
};
