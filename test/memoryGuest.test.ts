import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir as cacheFolder } from '@kdelta/home';
import { type BootedHost, createDriver } from '@kdelta/hosts';
import { expandJob, type HostFile, packagesOf, parseJob, type Testcase } from '@kdelta/jobs';
import { type Programs, parseOutput, type Samples } from '@kdelta/programs';
import { collectRun, RunMarks, runPlace, startRun, waitForRun } from '@kdelta/runner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareGuests } from './debianGuest.ts';

/* One boot of Debian's packaged kernel, which has BTF, zram and cgroup v2, for all that needs its memory management. */
const cacheDir = cacheFolder();
const signal = new AbortController().signal;
let dir: string;
let programs: Programs;
let tcg: HostFile;
let host: BootedHost;
let count = 0;

const testcaseOf = (text: string): Testcase =>
  expandJob(
    parseJob(`suite: mapanon\ntestcase: mapanon\ncategory: benchmark\n${text}`, 'jobs/test.yaml', programs)[0]!,
    tcg,
    programs,
  )[0]!;

const monitored =
  'pattern: random\nreferences: 15000\nrange: 3000\nlimit_pct: 50\ninstances: 2\npgfault-latency:\nmapanon:\n';

beforeAll(async () => {
  const prepared = await prepareGuests('kdelta-memory-');
  ({ dir, programs, tcg } = prepared);
  const packages = packagesOf(testcaseOf(monitored), programs);
  const order = { token: 'memory', kernel: prepared.kernel, cmdline: '', dir: join(dir, 'guest'), packages };
  mkdirSync(order.dir);
  host = await createDriver(tcg, { cacheDir }).boot(order, signal);
}, 600_000);

afterAll(async () => {
  await host?.release();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a testcase on the guest that is up, as a boot would; the samples of its programs, and the folder of its files. */
async function run(text: string): Promise<{ ending: string; samples: Samples; files: string }> {
  const testcase = testcaseOf(text);
  const place = runPlace(`memory${++count}`, true);
  const marks = new RunMarks(() => {});
  const listening = await startRun(host.shell, testcase, programs, place, cacheDir, marks);
  await waitForRun(host.shell, testcase, place, { signal, listening, marks });
  const files = join(dir, `files${count}`);
  const ending = await collectRun(host.shell, place, files, true);
  const samples: Samples = {};
  for (const name of ['mapanon', 'pgfault-latency'])
    if (testcase.program === name || testcase.monitors.some((monitor) => monitor.name === name))
      Object.assign(samples, (await parseOutput(programs.get(name)!, join(files, name), { cacheDir })).samples);
  return { ending, samples, files };
}

/** Pages touched, each a fault, to see whether they are counted: many more than the test's own commands make. */
const PAGES = 20_000;

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
/** All buckets of a histogram at its last sample. */
const faultsOf = (samples: Samples, prefix: string) =>
  sum(
    Object.entries(samples)
      .filter(([name]) => name.startsWith(`${prefix}latency_<`))
      .map(([, values]) => values.at(-1)!),
  );

describe('memory in a guest', () => {
  let ran: Awaited<ReturnType<typeof run>>;

  it('mapanon at twice its memory limit: what is present and what is swapped are the pages touched', {
    timeout: 300_000,
  }, async () => {
    ran = await run(monitored);
    expect(ran.ending).toBe('ok');
    const { samples } = ran;
    for (const i of [0, 1]) {
      const touched = samples['mapanon.pages_touched']![i]!;
      const present = samples['mapanon.present']![i]!;
      const swapped = samples['mapanon.swapped']![i]!;
      // 15,000 references to 3,000 pages leave out e^-5 of them; the limit is 1,500 pages.
      expect(touched).toBeGreaterThan(2900);
      expect(Math.abs(present + swapped - touched)).toBeLessThanOrEqual(touched / 100);
      expect(present).toBeLessThanOrEqual(1500);
      expect(present).toBeGreaterThan(750);
    }
    // Of the whole machine, so at least what the two have out at their end.
    expect(samples['mapanon.swap_out']![0]).toBeGreaterThanOrEqual(sum(samples['mapanon.swapped']!));
    // Each column of the files tells the same.
    for (const i of [1, 2]) {
      const rows = readFileSync(join(ran.files, `mapanon-data/${i}/mapanon-pagemap.data`), 'utf8')
        .trimEnd()
        .split('\n');
      const column = (k: number) => sum(rows.map((row) => Number(row.split(' ')[k])));
      expect([column(1), column(2)]).toEqual([samples['mapanon.present']![i - 1], samples['mapanon.swapped']![i - 1]]);
    }
  });

  it('pft’s clock is its cgroup’s CPU time, and its pages are the faults that the kernel counts there', {
    timeout: 120_000,
  }, async () => {
    const { ending } = await run('size: 4M\niterations: 1\nnr_threads: 1\npft:\n');
    expect(ending).toBe('ok');
    const pft = `${runPlace(`memory${count}`, true).base}/programs/pft/pft`;
    // With -P it pauses before it ends: what the kernel has counted by then is of its start and its loop.
    const script = `group=/sys/fs/cgroup/kdelta-pft
echo +cpu +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir $group || exit 1
sh -c 'echo 0 >$0/cgroup.procs && exec "$@"' $group ${pft} -m 512M -t 1 -P >/tmp/pft & pid=$!
n=0; while ! grep -q '^ .*[0-9]$' /tmp/pft && [ $n -lt 300 ]; do sleep 0.2; n=$((n + 1)); done
tail -n 1 /tmp/pft; cat $group/cpu.stat $group/memory.stat
kill -9 $pid; wait $pid 2>/dev/null; rmdir $group`;
    const ratios: number[] = [];
    for (let i = 0; i < 3; i++) {
      const { status, stdout, stderr } = await host.shell.exec(script);
      expect([status, stderr.toString()]).toEqual([0, '']);
      const [line = '', ...counters] = stdout.toString().trimEnd().split('\n');
      const counted = (name: string) => Number(counters.find((text) => text.startsWith(`${name} `))!.split(' ')[1]);
      expect(Math.abs(counted('pgfault') / 131_072 - 1)).toBeLessThan(0.005);
      const [, , , , , wall] = line.match(/[\d.]+/g)!.map(Number);
      ratios.push(wall! / (counted('usage_usec') / 1e6));
    }
    // The median: another program of the guest may take the CPU for a moment.
    expect(Math.abs(ratios.sort((x, y) => x - y)[1]! - 1)).toBeLessThan(0.02);
  });

  it('pgfault-latency by bpftrace counts the faults of two cgroups apart', () => {
    const { samples, files } = ran;
    expect(readFileSync(join(files, 'pgfault-latency'), 'utf8')).toMatch(/^# bounds: .*\n# method: bpftrace\n/);
    const each = [1, 2].map((i) => faultsOf(samples, `pgfault-latency.cgroup-/kdelta-mapanon/${i}.`));
    for (const i of [0, 1]) {
      const own = samples['mapanon.minor_faults']![i]! + samples['mapanon.major_faults']![i]!;
      // mapanon counts its loop alone, the kernel its start and end too, and a fault that had to wait for the disk twice.
      expect(each[i]).toBeGreaterThanOrEqual(own);
      expect(each[i]).toBeLessThan(2 * own + 1000);
    }
    const root = faultsOf(samples, 'pgfault-latency.cgroup-/.');
    expect(sum(each) + root).toBeLessThanOrEqual(faultsOf(samples, 'pgfault-latency.'));
  });

  it('swappiness 0 and 100 share out what is taken away at least twice as differently', {
    timeout: 300_000,
  }, async () => {
    const mixed = 'pattern: random\nreferences: 20000\nrange: 3000\nlimit_pct: 50\nmapping: mixed\nlru_gen: "off"\n';
    const share = async (swappiness: number) => {
      const { ending, samples } = await run(`${mixed}swappiness: ${swappiness}\nmapanon:\n`);
      expect(ending).toBe('ok');
      expect(samples['mapanon.file_present']![0]).toBeLessThan(samples['mapanon.file_touched']![0]!);
      return samples['mapanon.swapped_share']![0]!;
    };
    const never = await share(0);
    const often = await share(100);
    expect(often).toBeGreaterThan(0.05);
    expect(often).toBeGreaterThanOrEqual(2 * never);
  });

  it('mapanon refuses what would be killed, and says why', { timeout: 120_000 }, async () => {
    const { ending, files } = await run(
      'pattern: random\nreferences: 2000\nrange: 3000\nlimit_pct: 50\nswappiness: 0\nmapanon:\n',
    );
    expect(ending).not.toBe('ok');
    expect(readFileSync(join(files, 'mapanon'), 'utf8')).toMatch(
      /^# refused: with swappiness 0 a cgroup is never swapped/m,
    );
  });

  it.each(['bpftrace', 'ftrace'])(
    'pgfault-latency by %s is paused, cleared and switched on again while it runs',
    {
      timeout: 120_000,
    },
    async (method) => {
      const { shell } = host;
      const base = `${runPlace('memory1', true).base}/programs`;
      // Two new samples after each step: the first of them is then whole, and of after it.
      const script = `export PATH LC_ALL=C KD_TMP=/tmp method=${method} bounds=600,1200,2400,4800,9600,19200,38400 interval=1 cgroup=
out=/tmp/histogram-${method}
: >$out
${base}/pgfault-latency/monitor >>$out 2>/tmp/err & monitor=$!
n=0; while [ ! -s $out ] && [ $n -lt 300 ]; do sleep 0.2; n=$((n + 1)); done
${base}/mapanon/mapanon generate linear ${PAGES} ${PAGES} >/tmp/references
faults() { ${base}/mapanon/mapanon replay --no-times /tmp/references /tmp/x >/dev/null; }
mark() {
	t=$(grep -c ^time: $out) n=0
	while [ $(grep -c ^time: $out) -lt $((t + 2)) ] && [ $n -lt 60 ]; do sleep 0.7; n=$((n + 1)); done
	echo "mark: $1" >>$out
}
mark begin
faults; mark counted
kill -USR1 $monitor; sleep 0.2; mark paused
faults; mark still
kill -USR1 $monitor; kill -USR2 $monitor; mark cleared
faults; mark again
kill -TERM $monitor; wait $monitor
cat $out
cat /sys/kernel/tracing/kprobe_events /sys/kernel/tracing/synthetic_events /tmp/err >&2`;
      const { status, stdout, stderr } = await shell.exec(script, { maxBytes: 16 << 20 });
      expect(status).toBe(0);
      // Nothing of it stays behind in the kernel.
      expect(stderr).not.toContain('kdelta');
      const text = stdout.toString();
      expect(text).toMatch(new RegExp(`^# method: ${method}`, 'm'));
      /** Faults counted so far at a mark: in the last sample but one before it. */
      const at = (mark: string) => {
        const before = text.slice(0, text.indexOf(`mark: ${mark}\n`)).split(/^time: .*\n/m);
        const counts = before.at(-2)!.matchAll(/^(?:@h\[\d+, \d+\]:|\{ lat: .*hitcount:) +(\d+)$/gm);
        return sum([...counts].map((match) => Number(match[1])));
      };
      expect(at('counted') - at('begin')).toBeGreaterThanOrEqual(PAGES);
      // What is under way when the signal comes is all that may be added.
      expect(at('still') - at('paused')).toBeLessThan(400);
      expect(at('cleared')).toBeLessThan(at('still') - PAGES / 2);
      expect(at('again') - at('cleared')).toBeGreaterThanOrEqual(PAGES);
    },
  );
});
