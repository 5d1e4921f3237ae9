import { fetchDeb } from './deb.ts';
import { buildCommit } from './kbuild.ts';
import type { BuildContext, BuildOutcome, KernelSpec } from './types.ts';

/**
 * Builds a commit or fetches a package, or finds the result in the cache. A commit that doesn't compile, breaks a
 * limit or an unknown package is an outcome (`failed`, with class, message, first error and log), not an exception.
 * Throws KD_ABORTED when `ctx.signal` fires, KD_KCONFIG for a kconfig that isn't there, KD_TOOL_MISSING, KD_CACHE_DIR.
 */
export async function buildKernel(spec: KernelSpec, ctx: BuildContext): Promise<BuildOutcome> {
  switch (spec.kind) {
    case 'deb':
      return await fetchDeb(spec, ctx);
    case 'kbuild':
      return await buildCommit(spec, ctx);
  }
}

/** `deb:NAME[=VERSION]` as people write it. Null when it isn't of that form. */
export function parseDebSpec(text: string): Extract<KernelSpec, { kind: 'deb' }> | null {
  const match = /^deb:([^=]+)(?:=(.+))?$/.exec(text);
  if (!match) return null;
  return { kind: 'deb', package: match[1]!, ...(match[2] !== undefined && { version: match[2] }) };
}
