import type { ProgramMeta, ProgramUse, Testcase } from '@kdelta/jobs';

export interface ScriptPlan {
  testcase: Testcase;
  programs: ReadonlyMap<string, ProgramMeta>;
  /** Folder of this boot on the host: script, programs, results. */
  base: string;
  /** Scratch folder on the host, in memory: benchmarks of file systems are in-memory runs, as LKP's are. */
  scratch: string;
}

/** What a program finds in its environment beside its parameters; the script itself is started with no more. */
export const CLEAN = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C TZ=UTC';

/** Seconds that a monitor has to give its first output (unless its meta.yaml says more), and to end after SIGTERM. */
const MONITOR_SECONDS = 2;

/**
 * The one script that runs on the host for a boot, as docs/add-a-benchmark.md promises it: setups → warm-up → series monitors →
 * snapshots `before` → program inside the wraps → monitors ended → snapshots `after` → setups restored → results
 * archived and fsynced → `done`. It tells its state to the file `state` (which survives us) and to the pipe `signal` (which
 * costs the host nothing while we wait). Every word that isn't ours is quoted.
 */
export function runScript(plan: ScriptPlan): string {
  const { testcase, base, scratch } = plan;
  const meta = (use: ProgramUse): ProgramMeta => {
    const found = plan.programs.get(use.name);
    if (!found) throw new Error(`no program ${use.name}`);
    if (!/^[A-Za-z0-9_][A-Za-z0-9._+-]*$/.test(use.name)) throw new Error(`${use.name} is no name for a program`);
    return found;
  };
  const dir = (use: ProgramUse) => `${base}/programs/${use.name}`;
  const variables = (use: ProgramUse, out = `${base}/out`, tmp = scratch): string =>
    Object.entries({
      KD_OUT: out,
      KD_TMP: tmp,
      KD_PROGRAM: use.name,
      KD_PROGRAM_DIR: dir(use),
      KD_REPRODUCE: `${out}/reproduce.log`,
      ...use.env,
    })
      .map(([name, value]) => `${variable(name)}=${quote(value)}`)
      .join(' ');
  // This script's own environment is CLEAN, so a call needs no env(1): under emulation each exec costs tens of milliseconds.
  const call = (use: ProgramUse, file: string, ...args: string[]) =>
    [variables(use), quote(`${dir(use)}/${file}`), ...args].join(' ');
  const monitors = testcase.monitors.map((use) => ({ use, kind: meta(use).monitor ?? 'series' }));
  for (const use of [testcase.run, ...testcase.setups]) meta(use);
  const of = (kind: string) => monitors.filter((monitor) => monitor.kind === kind).map((monitor) => monitor.use);
  const output = (use: ProgramUse) =>
    `>>${quote(`${base}/out/${use.name}`)} 2>>${quote(`${base}/out/${use.name}.err`)}`;

  const setup = (use: ProgramUse) => `if [ -z "$failed" ]; then
	ran="${use.name} $ran"
	${call(use, 'setup')} ${output(use)}
	status=$?
	[ $status = 0 ] || failed="setup ${use.name} $status"
fi`;
  const restore = (use: ProgramUse) => `\t\t${use.name}) ${call(use, 'setup', 'restore')} ${output(use)} ;;`;
  const packed = (use: ProgramUse): boolean => use.env.form === 'gzip';
  const errors = (use: ProgramUse) => `2>>${quote(`${base}/out/${use.name}.err`)}`;
  const mark = (use: ProgramUse) =>
    `echo ${quote(`# compressed: ${use.name}.gz`)} >${quote(`${base}/out/${use.name}`)}`;
  // Through a pipe of its own, as the monitor, not the one that packs, is to be ended. Its first line tells that it runs.
  const pack = (use: ProgramUse) => `mkfifo ${quote(`${base}/${use.name}.pipe`)}
{ IFS= read -r line && { ${mark(use)}; printf '%s\\n' "$line"; exec cat; }; } <${quote(`${base}/${use.name}.pipe`)} 2>/dev/null | gzip -c >>${quote(`${base}/out/${use.name}.gz`)} 2>/dev/null &
packers="$packers $!"
`;
  const series = (
    use: ProgramUse,
  ) => `${packed(use) ? pack(use) : ''}${call(use, 'monitor')} ${packed(use) ? `>${quote(`${base}/${use.name}.pipe`)} ${errors(use)}` : output(use)} &
series="$series $!:${20 * (meta(use).startsWithin ?? MONITOR_SECONDS)}:${use.name}"`;
  const snapshot = (use: ProgramUse, when: string) =>
    packed(use)
      ? `${call(use, 'monitor', when)} ${errors(use)} | gzip -c >>${quote(`${base}/out/${use.name}.gz`)}; ${mark(use)}`
      : `${call(use, 'monitor', when)} ${output(use)}`;
  const wrapped = of('wrap').reduceRight(
    (command, use) => `env -i ${CLEAN} ${variables(use)} ${quote(`${dir(use)}/monitor`)} ${command}`,
    `$randomised env -i ${CLEAN} ${variables(testcase.run)} ${quote(`${dir(testcase.run)}/run`)}`,
  );

  const limit = `timeout -k 5 ${Math.ceil(testcase.timeoutSeconds)}`;
  const warm = `${scratch}/warmup`;
  // As it will be measured, but in a folder of its own, so that it leaves nothing behind.
  const warmup = `if [ -z "$failed" ]; then
	mkdir -p ${quote(warm)}/out ${quote(warm)}/tmp && cd ${quote(warm)}/tmp
	${limit} env -i ${CLEAN} ${variables(testcase.run, `${warm}/out`, `${warm}/tmp`)} ${quote(`${dir(testcase.run)}/run`)} </dev/null >/dev/null 2>>${quote(`${base}/out/${testcase.run.name}.err`)}
	status=$?
	[ $status = 0 ] || failed="warmup ${testcase.run.name} $status"
	cd "$base"
	rm -rf ${quote(warm)}
fi`;

  return `#!/bin/sh
# One boot of testcase ${printable(testcase.name)}, written by kdelta.
cd ${quote(base)} || exit 1
base=$PWD
mkdir -p out ${quote(scratch)}
: >>out/reproduce.log
# Open for both ways: a write never waits for a reader.
exec 9<>signal
tell() {
	read -r up rest </proc/uptime
	echo "$1 $up" >>state
	echo "$1" >&9
}
# Marks in the kernel's log what ran when it said what.
note() {
	[ ! -c /dev/kmsg ] || echo "<6>kdelta: $1" >/dev/kmsg
} 2>/dev/null
failed= ran= series= packers= randomised=
# Monitors run without randomised addresses (see run.ts); what is measured has them.
! command -v setarch >/dev/null || randomised='setarch linux64'

restore() {
	for name in $ran; do
		case $name in
${testcase.setups.map(restore).join('\n')}
		*) ;;
		esac
	done
	ran=
}
# What was set up is restored whatever ends this script; from a folder that is no mount of a setup.
trap 'cd "$base"; restore; tell stopped; exit 1' TERM INT HUP

tell started
${[...testcase.setups.map(setup), ...Array<string>(testcase.warmup ?? 0).fill(warmup)].join('\n')}
if [ -z "$failed" ]; then
cd ${quote(scratch)} || exit 1
${of('series').map(series).join('\n')}
n=0
while :; do
	silent=
	for monitor in $series; do
		rest=\${monitor#*:}
		[ $n -ge "\${rest%%:*}" ] || [ -s "$base/out/\${rest#*:}" ] || ! kill -0 "\${monitor%%:*}" 2>/dev/null || silent=$monitor
	done
	[ -n "$silent" ] || break
	sleep 0.05
	n=$((n + 1))
done
${of('snapshot')
  .map((use) => snapshot(use, 'before'))
  .join('\n')}
note ${quote(`${printable(testcase.name)}: ${testcase.run.name} begins`)}
cd "$base"; tell program-start; cd ${quote(scratch)}
# Lets the message leave before the measurement begins.
sleep 0.1
${limit} ${wrapped} ${output(testcase.run)} </dev/null
status=$?
cd "$base"; tell program-end
note ${quote(`${printable(testcase.name)}: ${testcase.run.name} ended`)}
[ $status = 0 ] || failed="program ${testcase.run.name} $status"
for monitor in $series; do kill -TERM "\${monitor%%:*}" 2>/dev/null; done
${of('snapshot')
  .map((use) => snapshot(use, 'after'))
  .join('\n')}
n=0
while [ $n -lt ${MONITOR_SECONDS * 20} ]; do
	alive=
	for monitor in $series; do ! kill -0 "\${monitor%%:*}" 2>/dev/null || alive=1; done
	[ -n "$alive" ] || break
	sleep 0.05
	n=$((n + 1))
done
for monitor in $series; do kill -KILL "\${monitor%%:*}" 2>/dev/null; done
# What a monitor said last is still on its way; a child that it left behind may hold the pipe for good.
n=0
while [ $n -lt ${MONITOR_SECONDS * 20} ]; do
	packing=
	for packer in $packers; do ! kill -0 "$packer" 2>/dev/null || packing=1; done
	[ -n "$packing" ] || break
	sleep 0.05
	n=$((n + 1))
done
fi
cd "$base"
restore
dmesg >out/dmesg 2>/dev/null
read -r tainted </proc/sys/kernel/tainted
echo "$tainted" >out/tainted
echo "\${failed:-ok}" >out/exit
tar cf - out state 2>/dev/null | gzip -1 >result.tar.gz
# A file that isn't synced is empty after a reset; an empty done is none.
sync result.tar.gz
echo "\${failed:-ok}" >done
sync done .
tell done
rm -rf ${quote(scratch)}
`;
}

const printable = (name: string): string => name.replace(/[^\x20-\x7e]/g, '?');

/** A word for the shell, whatever is in it. */
export function quote(word: string): string {
  if (word.includes('\0')) throw new Error('a word for the shell holds a NUL');
  return /^[A-Za-z0-9_./:=+%@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function variable(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a variable`);
  return name;
}
