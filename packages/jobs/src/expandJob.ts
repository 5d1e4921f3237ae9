import { createHash } from 'node:crypto';
import { InputError } from './errors.ts';
import type { Programs } from './parseJob.ts';
import { parseCount, parsePercent, parseSeconds, parseSize } from './quantity.ts';
import type { HostFile, JobFile, ParamMeta, ProgramMeta, ProgramUse, Testcase } from './types.ts';

/**
 * All testcases of a job on a host: the cartesian product over the lists among its parameters, in the file's order, the
 * last varying fastest. Percentages are of the host's CPUs or memory, cut to an integer as LKP does
 * (`(pct * nr_cpu / 100).to_i`). In the environment, sizes are bytes, durations seconds; `nr_cpu`, `nr_node` and `memory`
 * (bytes) are always there. `versions` is empty: see `withVersions`.
 * Throws InputError KD_JOB_INVALID where a percentage comes to nothing on this host.
 */
export function expandJob(job: JobFile, host: HostFile, programs: Programs): Testcase[] {
  return product(axesOf(job)).map((choice) => {
    const pick = (params: Record<string, string[]>): Record<string, string> =>
      Object.fromEntries(Object.entries(params).map(([name, values]) => [name, choice.get(axisKey(name, values))!]));
    const use = (name: string, params: Record<string, string>): ProgramUse => ({
      name,
      env: environment(job, host, programs.get(name)!, params),
    });
    const params = pick(job.params);
    const setups = job.setups.map((setup) => ({ name: setup.name, params: pick(setup.params) }));
    const axes = Object.assign({}, params, ...setups.map((setup) => setup.params)) as Record<string, string>;
    return withVersions(
      {
        key: '',
        name: testcaseName(job.testcase, axes),
        program: job.program,
        params: axes,
        run: use(job.program, params),
        setups: setups.map((setup) => use(setup.name, setup.params)),
        monitors: job.monitors.map((monitor) => use(monitor.name, monitor.params)),
        tboxGroup: host.tboxGroup,
        boots: job.boots,
        maxBoots: job.maxBoots,
        timeoutSeconds: job.timeoutSeconds,
        warmup: job.warmup,
        wantPct: job.wantPct ?? (host.deterministic ? 0.5 : undefined),
        needKconfig: job.needKconfig,
        versions: {},
      },
      {},
    );
  });
}

/** The testcase with versions (rootfs, benchmark, QEMU, …) and the key that follows: equal keys may be compared. */
export function withVersions(testcase: Testcase, versions: Record<string, string>): Testcase {
  const identity = [
    testcase.name,
    useIdentity(testcase.run),
    testcase.setups.map(useIdentity),
    testcase.monitors.map(useIdentity).sort(),
    testcase.tboxGroup,
    Object.entries(versions).sort(byKey),
    ...(testcase.warmup ? [{ warmup: testcase.warmup }] : []),
  ];
  const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 12);
  return { ...testcase, key, versions };
}

/** The Debian packages that a testcase's programs need on the host: only these, so that a new program changes no other's root file system. */
export function packagesOf(testcase: Testcase, programs: Programs): string[] {
  const uses = [testcase.run, ...testcase.setups, ...testcase.monitors];
  return [...new Set(uses.flatMap((use) => packagesOfUse(use, programs.get(use.name))))].sort();
}

/** Those of them that the benchmark and its setups need; a monitor without its tool says so and fails nothing. */
export function requiredPackagesOf(testcase: Testcase, programs: Programs): string[] {
  return packagesOf({ ...testcase, monitors: [] }, programs);
}

function packagesOfUse(use: ProgramUse, meta: ProgramMeta | undefined): string[] {
  const ofValues = Object.entries(meta?.params ?? {}).flatMap(
    ([name, param]) => param.packages?.[use.env[name]!] ?? [],
  );
  return [...(meta?.packages ?? []), ...ofValues];
}

/** Whether a testcase wants the host's scratch disk. */
export function needsScratchDisk(testcase: Testcase): boolean {
  return [testcase.run, ...testcase.setups, ...testcase.monitors].some((use) => use.env[SCRATCH_DISK] !== undefined);
}

/** Serial number of the disk that a guest is given, with its size: another size is another testcase. */
export function scratchSerial(bytes: number): string {
  return `scratch-${bytes / 2 ** 20}M`;
}

/** The variable that names the disk to programs that need it: a device, or `serial:` and a disk's serial number. */
const SCRATCH_DISK = 'scratch_disk';

/** LKP's path_params: the job's name, then the values sorted by key, each cut to 31 characters, odd ones as `_`. */
export function testcaseName(name: string, params: Record<string, string>): string {
  const values = Object.entries(params)
    .sort(byKey)
    .map(([, value]) => value.slice(0, 31).replace(/[^-a-zA-Z0-9+=:.%]/g, '_'));
  return [name, ...values].join('-');
}

function useIdentity(use: ProgramUse): string {
  return JSON.stringify([use.name, Object.entries(use.env).sort(byKey)]);
}

function byKey(a: [string, string], b: [string, string]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

/** A list given to several programs under one name varies once, for all of them. */
const axisKey = (name: string, values: string[]): string => JSON.stringify([name, values]);

function axesOf(job: JobFile): Map<string, string[]> {
  const axes = new Map<string, string[]>();
  for (const params of [job.params, ...job.setups.map((setup) => setup.params)])
    for (const [name, values] of Object.entries(params)) axes.set(axisKey(name, values), values);
  return axes;
}

function product(axes: Map<string, string[]>): Map<string, string>[] {
  let choices = [new Map<string, string>()];
  for (const [axis, values] of axes)
    choices = choices.flatMap((choice) => values.map((value) => new Map([...choice, [axis, value]])));
  return choices;
}

function environment(
  job: JobFile,
  host: HostFile,
  program: ProgramMeta,
  given: Record<string, string>,
): Record<string, string> {
  const env: Record<string, string> = {
    nr_cpu: String(host.nrCpu),
    nr_node: String(host.nrNode),
    memory: String(host.memory),
  };
  if (program.needs?.includes(SCRATCH_DISK)) {
    const disk = host.scratchDisk;
    if (!disk)
      throw new InputError(
        'KD_JOB_INVALID',
        job.file,
        1,
        program.name,
        `needs a disk that may be overwritten, and ${host.name} has none; name one in ${host.file} (scratch_disk: 8G for a guest, a device for a lab machine)`,
      );
    env[SCRATCH_DISK] = 'device' in disk ? disk.device : `serial:${scratchSerial(disk.bytes)}`;
  }
  for (const [name, meta] of Object.entries(program.params)) {
    const value = given[name] ?? meta.default;
    if (value !== undefined) env[name] = resolve(job, host, name, value, meta);
  }
  return env;
}

function resolve(job: JobFile, host: HostFile, name: string, value: string, meta: ParamMeta): string {
  const percent = parsePercent(value);
  if (percent !== null && meta.percentOf) {
    const whole = meta.percentOf === 'nr_cpu' ? host.nrCpu : host.memory;
    const share = Math.floor((percent * whole) / 100);
    if (share === 0)
      throw new InputError(
        'KD_JOB_INVALID',
        job.file,
        1,
        name,
        `${value} of ${meta.percentOf === 'nr_cpu' ? `${whole} CPUs` : `${whole} bytes`} of ${host.name} is nothing; give a larger share or a plain number`,
      );
    return String(share);
  }
  if (meta.kind === 'seconds') return String(parseSeconds(value) ?? value);
  if (meta.kind === 'size') return String(parseSize(value) ?? value);
  if (meta.kind === 'int') return String(parseCount(value) ?? value);
  return value;
}
