import { suggestion } from '@kdelta/jobs';
import { parseDebSpec } from '@kdelta/kernels';
import { type StepContext, UnknownName } from '@kdelta/steps';
import type { WantedKernel } from '@kdelta/store';

/**
 * What `--kernel` names: `deb:PACKAGE[=VERSION]`, `TREE:COMMIT` or `REPOSITORY:COMMIT`. Throws KD_UNKNOWN_KERNEL with the
 * near matches.
 */
export async function resolveKernel(ctx: StepContext, name: string, _kconfig?: string): Promise<WantedKernel> {
  const deb = parseDebSpec(name);
  if (deb)
    return { kind: 'deb', package: deb.package, ...(deb.version === undefined ? {} : { packageVersion: deb.version }) };
  const trees = ctx.config.trees.map((tree) => `${tree.name}:`);
  throw new UnknownName(
    'KD_UNKNOWN_KERNEL',
    `no kernel ${name}${suggestion(name, ['deb:linux-image-6.12-cloud-amd64', ...trees])}`,
  );
}
