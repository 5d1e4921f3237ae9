import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findCommit, GitError, readCommits } from '@kdelta/git';
import { suggestion } from '@kdelta/jobs';
import { KernelError, parseDebSpec, readKconfig, resolvePackage } from '@kdelta/kernels';
import { mirrorDir, recordRange, type StepContext, UnknownName } from '@kdelta/steps';
import { tree, type WantedKernel } from '@kdelta/store';
import { eq } from 'drizzle-orm';

/** What a repository that is no tree is built with, unless it is said. */
const defaultKconfig = 'allnoconfig+qemu-x86_64';

/**
 * What `--kernel` names: `deb:PACKAGE[=VERSION]`, `TREE:COMMIT` or `REPOSITORY:COMMIT`. Throws KD_UNKNOWN_KERNEL with the
 * near matches.
 */
export async function resolveKernel(ctx: StepContext, name: string, kconfig?: string): Promise<WantedKernel> {
  const deb = parseDebSpec(name);
  if (deb) {
    const { version } = await resolvePackage(deb.package, deb.version, ctx.signal).catch((error: Error) => {
      throw error instanceof KernelError && error.code === 'KD_KERNEL_UNKNOWN'
        ? new UnknownName('KD_UNKNOWN_KERNEL', error.message)
        : error;
    });
    return { kind: 'deb', package: deb.package, packageVersion: version };
  }
  const colon = name.lastIndexOf(':');
  const [place, rev] = [name.slice(0, colon), name.slice(colon + 1)];
  const trees = ctx.config.trees.map((one) => one.name);
  if (colon <= 0 || rev === '')
    throw new UnknownName(
      'KD_UNKNOWN_KERNEL',
      `no kernel ${name}: deb:PACKAGE[=VERSION], TREE:COMMIT or REPOSITORY:COMMIT${suggestion(place || name, trees)}`,
    );

  const config = ctx.config.trees.find((one) => one.name === place);
  if (config) {
    const mirror = mirrorDir(ctx, config.name);
    const [row] = await ctx.db.select({ id: tree.id }).from(tree).where(eq(tree.name, place));
    if (!row || !existsSync(mirror))
      throw new UnknownName('KD_UNKNOWN_KERNEL', `tree ${place} was never fetched: run \`kdelta watch\` first`);
    const sha = await commitIn(mirror, rev, name);
    await recordRange(ctx.db, mirror, null, sha);
    return { kind: 'kbuild', treeId: row.id, sha, ...(await named(ctx, config.kconfig)) };
  }

  const repo = resolve(place);
  if (!existsSync(repo))
    throw new UnknownName(
      'KD_UNKNOWN_KERNEL',
      `no kernel ${name}: ${place} is neither a tree nor a repository${suggestion(place, trees)}`,
    );
  const gitDir = existsSync(join(repo, '.git')) ? join(repo, '.git') : repo;
  const sha = await commitIn(gitDir, rev, name);
  await recordRange(ctx.db, gitDir, null, sha);
  const [base, ...fragments] = (kconfig ?? defaultKconfig).split('+');
  return { kind: 'kbuild', repo: gitDir, sha, ...(await named(ctx, { base: base as string, fragments })) };
}

async function commitIn(gitDir: string, rev: string, name: string): Promise<string> {
  try {
    const sha = await findCommit(gitDir, rev);
    if ((await readCommits(gitDir, [sha])).length === 1) return sha;
    throw new GitError('KD_GIT_UNKNOWN', `${rev} is no commit`);
  } catch (error) {
    if (error instanceof GitError) throw new UnknownName('KD_UNKNOWN_KERNEL', `no kernel ${name}: ${error.message}`);
    throw error;
  }
}

async function named(ctx: StepContext, kconfig: { base: string; fragments: string[] }) {
  const { hash } = await readKconfig(join(ctx.dirs.home, 'kconfig'), kconfig).catch((error: Error) => {
    throw Object.assign(error, { exitStatus: 2 });
  });
  return { kconfig: [kconfig.base, ...kconfig.fragments].join('+'), kconfigHash: hash };
}
