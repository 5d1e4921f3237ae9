import { appendFile, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkoutCommit } from '@kdelta/git';
import { cacheEntry, cacheLockFile, fetchEntry, touch } from './cache.ts';
import { collectBuild } from './collect.ts';
import { runCommand } from './command.ts';
import { compilerName, hash, readArtifact } from './deb.ts';
import { BuildFailed, KernelError } from './errors.ts';
import { firstError } from './firstError.ts';
import { type KconfigInput, lostOptions, readKconfig } from './kconfig.ts';
import { takeLock } from './lock.ts';
import { defaultLimits, runSandboxed, type SandboxResult } from './sandbox.ts';
import { clearBuild, type Slot, saveSlotState, takeSlot } from './slot.ts';
import type { BuildContext, BuildOutcome, KernelSpec } from './types.ts';

type KbuildSpec = Extract<KernelSpec, { kind: 'kbuild' }>;

/** Changes when the same commit would be built otherwise. */
const RECIPE = 'kbuild-2';

/** Files whose change can change what a .config means: then it is made anew, as in an empty folder. */
const CONFIG_SOURCES = /(^|\/)(Kconfig[^/]*|Makefile|Kbuild)$|^scripts\/|^arch\/[^/]+\/configs\/|\.config$/;

/** All that makes builds repeat: equal source gives equal images on any machine with the same compiler. */
const FIXED_ENV = {
  KBUILD_BUILD_TIMESTAMP: 'Thu Jan  1 00:00:00 UTC 1970',
  KBUILD_BUILD_USER: 'kdelta',
  KBUILD_BUILD_HOST: 'kdelta',
  KBUILD_BUILD_VERSION: '1',
  SOURCE_DATE_EPOCH: '0',
  TZ: 'UTC',
};

/** Builds a commit with kbuild in the sandbox; see buildKernel. */
export async function buildCommit(spec: KbuildSpec, ctx: BuildContext): Promise<BuildOutcome> {
  const kconfig = await readKconfig(ctx.kconfigDir, spec.kconfig);
  const compiler = await readCompiler(ctx.signal);
  const buildKey = hash([RECIPE, spec.sha, kconfig.hash, compiler].join('\n')).slice(0, 12);
  const path = cacheEntry(ctx.cacheDir, 'kernels', buildKey);
  if (await touch(path)) return { kind: 'built', artifact: await readArtifact(path), cached: true };

  // The log outlives a failed build, for whoever wants to read it.
  const failures = cacheEntry(ctx.cacheDir, 'failures', buildKey);
  try {
    const { made } = await fetchEntry(
      ctx.cacheDir,
      'kernels',
      buildKey,
      async (dir) => {
        await mkdir(dir, { recursive: true });
        const log = join(dir, 'log');
        try {
          await buildInto(dir, log, spec, buildKey, kconfig, compiler, ctx);
        } catch (error) {
          await keepLog(log, failures, ctx, buildKey);
          throw error;
        }
      },
      ctx.signal,
    );
    return { kind: 'built', artifact: await readArtifact(path), cached: !made };
  } catch (error) {
    return await failure(error, join(failures, 'log'));
  }
}

/** The compiler's and linker's version lines: part of the build key. Throws KD_TOOL_MISSING. */
export async function readCompiler(signal?: AbortSignal): Promise<string> {
  const versions = await Promise.all(['gcc', 'ld'].map((program) => runCommand(program, ['--version'], { signal })));
  return versions.map((result) => result.stdout.split('\n')[0]).join('; ');
}

async function buildInto(
  dir: string,
  log: string,
  spec: KbuildSpec,
  buildKey: string,
  kconfig: KconfigInput,
  compiler: string,
  ctx: BuildContext,
): Promise<void> {
  const startMs = performance.now();
  await writeFile(
    log,
    `commit ${spec.sha}\nkconfig ${kconfig.name} ${kconfig.hash.slice(0, 12)}\ncompiler ${compiler}\n`,
  );
  const slot = await takeSlot(spec.tree, kconfig.hash, compiler, ctx);
  try {
    ctx.progress?.({ phase: 'checkout', message: spec.sha.slice(0, 12) });
    const changed = await checkoutCommit(spec.repo, spec.sha, { dir: slot.src, index: slot.index }, ctx.signal);
    const make = await makeCommand(slot, log, ctx);
    await configure(slot, kconfig, changed, make, log, ctx);

    let objects = 0;
    ctx.progress?.({ phase: 'compile', message: spec.sha.slice(0, 12) });
    const release = { LOCALVERSION: `-kd${buildKey}` };
    await make('all-kernel', release, (line) => {
      if (/^ {2}(CC|AS) /.test(line) && ++objects % 50 === 0)
        ctx.progress?.({ phase: 'compile', message: `${objects} objects` });
    });

    ctx.progress?.({ phase: 'collect', message: spec.sha.slice(0, 12) });
    const lost = lostOptions(await readFile(join(slot.build, '.config'), 'utf8'), kconfig.fragments);
    if (lost.length > 0) await appendFile(log, `options not as asked: ${lost.join(', ')}\n`);
    const known = {
      buildKey,
      compiler: compilerName(compiler),
      kconfigHash: kconfig.hash,
      buildMs: () => Math.round(performance.now() - startMs),
    };
    await collectBuild(slot, dir, known).catch(async (error) => {
      if (error instanceof BuildFailed) await clearBuild(slot);
      throw error;
    });
  } finally {
    slot.lock.release();
  }
}

type Make = (step: keyof typeof STEPS, env: Record<string, string>, onLine?: (line: string) => void) => Promise<void>;

/** Everything that touches the build folder runs inside the sandbox; nothing in a script comes from outside but through its environment. */
const STEPS = {
  'config-allno': `
    cat /input/*.fragment >/tmp/all.config
    kmake KCONFIG_ALLCONFIG=/tmp/all.config allnoconfig`,
  'config-target': `
    kmake "$BASE"
    /src/scripts/kconfig/merge_config.sh -m -O /build /build/.config $(ls /input/*.fragment 2>/dev/null)
    kmake olddefconfig`,
  'config-text': `
    rm -rf /build/.config
    cp /input/base.config /build/.config
    /src/scripts/kconfig/merge_config.sh -m -O /build /build/.config $(ls /input/*.fragment 2>/dev/null)
    kmake olddefconfig`,
  'all-kernel': `
    image=bzImage
    [ "$(uname -m)" = aarch64 ] && image=Image
    if grep -q '^CONFIG_MODULES=y' /build/.config; then
      kmake $image modules
      rm -rf /build/.kd-modules
      mkdir /build/.kd-modules
      kmake INSTALL_MOD_PATH=/build/.kd-modules INSTALL_MOD_STRIP=1 modules_install
    else
      rm -rf /build/.kd-modules
      kmake $image
    fi`,
};

async function makeCommand(slot: Slot, log: string, ctx: BuildContext): Promise<Make> {
  const limits = defaultLimits(ctx.limits);
  const jobs = ctx.jobs ?? availableParallelism();
  const ccache = (await runCommand('ccache', ['--version'], { signal: ctx.signal }).catch(() => null)) !== null;
  const cc = ccache ? 'ccache gcc' : 'gcc';
  return async (step, env, onLine) => {
    await saveSlotState(slot, { ...slot.state, building: true });
    // Expanded by the shell inside: CC keeps its blank.
    const script = `set -e\nkmake() { make -C /src O=/build -j${jobs} CC="$CC_COMMAND" HOSTCC="$CC_COMMAND" "$@"; }\n`;
    const result = await runSandboxed({
      uid: slot.uid,
      argv: ['sh', '-c', script + STEPS[step]],
      env: {
        ...FIXED_ENV,
        ...env,
        CC_COMMAND: cc,
        CCACHE_DIR: '/ccache',
        CCACHE_MAXSIZE: '5G',
        // Not its depend mode: that doesn't see that piggy.S and others take in binary files (.incbin), and gave a kernel the
        // compressed image of another one of equal size. The namespace leaves what was stored so behind.
        CCACHE_NAMESPACE: 'incbin',
        CCACHE_NOSTATS: '1',
      },
      cwd: '/build',
      mounts: [
        { path: slot.src, at: '/src', writable: false },
        { path: slot.input, at: '/input', writable: false },
        { path: slot.build, at: '/build', writable: true },
        { path: slot.tmp, at: '/tmp', writable: true },
        { path: slot.ccache, at: '/ccache', writable: true },
      ],
      limits,
      log,
      onLine,
      signal: ctx.signal,
    });
    if (result.cut === null) await saveSlotState(slot, { ...slot.state, building: false });
    else await clearBuild(slot);
    if (result.code === 0 && result.cut === null) return;
    throw await explain(result, log, limits);
  };
}

async function configure(
  slot: Slot,
  kconfig: KconfigInput,
  changed: string[] | null,
  make: Make,
  log: string,
  ctx: BuildContext,
): Promise<void> {
  const same = slot.state.kconfigHash === kconfig.hash && changed !== null;
  if (same && !changed.some((path) => CONFIG_SOURCES.test(path))) return;
  ctx.progress?.({ phase: 'configure', message: kconfig.name });
  await saveSlotState(slot, { building: false });
  for (const [i, fragment] of kconfig.fragments.entries()) {
    await writeFile(join(slot.input, `${String(i).padStart(2, '0')}-${fragment.name}.fragment`), `${fragment.text}\n`);
  }
  await appendFile(log, `== configure: ${kconfig.name}\n`);
  if ('text' in kconfig.base) {
    await writeFile(join(slot.input, 'base.config'), kconfig.base.text);
    await make('config-text', {});
  } else if (kconfig.base.target === 'allnoconfig') {
    await writeFile(join(slot.input, 'zz.fragment'), '');
    await make('config-allno', {});
  } else {
    await make('config-target', { BASE: kconfig.base.target });
  }
  await saveSlotState(slot, { kconfigHash: kconfig.hash, building: false });
}

async function explain(
  result: SandboxResult,
  log: string,
  limits: ReturnType<typeof defaultLimits>,
): Promise<BuildFailed> {
  const gib = (bytes: number) => `${Math.round((bytes / 2 ** 30) * 10) / 10} GiB`;
  switch (result.cut) {
    case 'time':
      return new BuildFailed(
        'build',
        `the build took longer than ${Math.round(limits.timeMs / 60_000)} minutes and was stopped`,
      );
    case 'memory':
      return new BuildFailed('build', `the build took more than ${gib(limits.memoryBytes)} of memory and was stopped`);
    case 'processes':
      return new BuildFailed('build', `the build started more than ${limits.processes} processes and was stopped`);
    case 'output':
      return new BuildFailed(
        'build',
        `the build printed more than ${limits.outputBytes / 2 ** 20} MiB and was stopped`,
      );
    case 'disk':
      return new BuildFailed('build', `the build wrote more than ${gib(limits.diskBytes)} and was stopped`);
    case 'disk-full':
      return new BuildFailed('infra', 'less than 1 GiB of disk is left: the build was stopped; run kdelta cache prune');
    case null:
      return new BuildFailed('build', firstError(await readFile(log, 'utf8')).message);
  }
}

async function keepLog(log: string, failures: string, ctx: BuildContext, buildKey: string): Promise<void> {
  const lock = await takeLock(cacheLockFile(ctx.cacheDir, 'failures', buildKey));
  try {
    await rm(failures, { recursive: true, force: true });
    await mkdir(failures, { recursive: true });
    await copyFile(log, join(failures, 'log'));
  } finally {
    lock.release();
  }
}

async function failure(error: unknown, log: string): Promise<BuildOutcome> {
  if (error instanceof BuildFailed) {
    const { excerpt } = firstError(await readFile(log, 'utf8'));
    return { kind: 'failed', failureClass: error.failureClass, message: error.message, excerpt, log };
  }
  if (error instanceof KernelError && error.code === 'KD_SANDBOX') {
    return { kind: 'failed', failureClass: 'infra', message: error.message, excerpt: error.message, log: null };
  }
  throw error;
}
