import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** What a line of the kernel's log tells, most exact first; `$1` and so on are cleaned of what differs from boot to boot. */
const rules: [RegExp, string][] = [
  [/WARNING: (?:CPU: \d+ PID: \d+ )?at (\S+?):\d+ (?:at )?(\w+)/, 'WARNING:at_$1:#$2'],
  [/WARNING: (?:CPU: \d+ PID: \d+ )?at (\S+?):\d+/, 'WARNING:at_$1:#'],
  [
    /WARNING: (possible [a-z ]+ detected|suspicious RCU usage|inconsistent lock state|bad unlock balance detected)/,
    'WARNING:$1',
  ],
  [/kernel BUG at (\S+?):\d+!/, 'kernel_BUG_at_$1'],
  [/BUG: (K[A-Z]+SAN): ([\w-]+) in (\w+)/, 'BUG:$1:$2_in_$3'],
  [/watchdog: BUG: (soft|hard) lockup - CPU#\d+ stuck/, 'BUG:$1_lockup-CPU##stuck'],
  [/BUG: workqueue lockup/, 'BUG:workqueue_lockup'],
  [/BUG: (kernel NULL pointer dereference)/, 'BUG:$1'],
  [/BUG: (unable to handle [a-zA-Z ]+?)(?: for address| at|:|$)/, 'BUG:$1'],
  [/BUG: (sleeping function called from invalid context) at (\S+?):\d+/, 'BUG:$1_at_$2'],
  [
    /BUG: (scheduling while atomic|Bad (?:page|rss|pte)[a-z ]*|spinlock [a-z ]+|using \w+\(\) in preemptible)/,
    'BUG:$1',
  ],
  [/INFO: task \S+:\d+ blocked (?:[a-z ]*?)?for more than \d+ seconds/, 'INFO:task_blocked_for_more_than#seconds'],
  [/INFO: (rcu\w*) (?:self-)?detected (?:expedited )?stalls? on CPU/, 'INFO:$1_detected_stall_on_CPU'],
  [/INFO: (possible [a-z ]+ detected|lockdep is turned off|trying to register non-static key)/, 'INFO:$1'],
  [/rcu: (?:INFO: )?(rcu\w*) (?:self-)?detected (?:expedited )?stalls? on CPU/, 'INFO:$1_detected_stall_on_CPU'],
  [/\bOops: /, 'Oops'],
  [/general protection fault/, 'general_protection_fault'],
  [/(?:UBSAN|KCSAN): ([\w-]+) in (\S+?)(?::\d+.*)?$/, 'UBSAN:$1_in_$2'],
  [/Kernel panic - not syncing: ([A-Za-z][A-Za-z ]*)/, 'Kernel_panic-not_syncing:$1'],
  [/page allocation failure: order:(\d+)/, 'page_allocation_failure:order:$1'],
  [/Out of memory(?: \(\w+\))?: Kill(?:ed)? process/, 'Out_of_memory:Killed_process'],
  [/Memory cgroup out of memory: Kill(?:ed)? process/, 'Memory_cgroup_out_of_memory:Killed_process'],
  [/(\w+)(?:\[\d+\])?: segfault at /, 'segfault:$1'],
  [/nobody cared/, 'irq:nobody_cared'],
  [/clocksource: .* (?:as unstable|is unstable)/, 'clocksource:unstable'],
  [/mce: \[Hardware Error\]: Machine check/, 'mce:Hardware_Error'],
  [/I\/O error, dev (\w+)/, 'IO_error:$1'],
  [/(?:EXT4-fs|XFS|BTRFS) (?:error|critical)/, 'filesystem_error'],
];

/** Where an oops happened, by its first RIP (x86) or pc (arm64) line. */
const place = /\b(?:RIP: \d+:|pc : )(\w+)(?:\.\w+)*\+0x[0-9a-f]+\/0x[0-9a-f]+/;

/**
 * The kernel's log: each kind of trouble that came, as 1. Names hold nothing that differs between boots (addresses, line
 * numbers, process ids, CPUs). A clean log gives no metric: absent is 0 of n runs.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const seen = new Set<string>();
  let inOops = false;
  for (const raw of lines) {
    // Half a name is the name of something else.
    if (context.unterminated) break;
    const line = raw.slice(0, 2000).replace(/^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?/, '');
    const name = nameOf(line);
    if (name) seen.add(name);
    if (name && /^(Oops|BUG|general_protection|kernel_BUG)/.test(name)) inOops = true;
    const where = inOops ? place.exec(line)?.[1] : undefined;
    if (!where) continue;
    inOops = false;
    seen.add(`RIP:${where}`);
  }
  for (const name of seen) out.add(name, 1);
  return out.samples;
}

function nameOf(line: string): string | undefined {
  for (const [pattern, template] of rules) {
    const match = pattern.exec(line);
    if (!match) continue;
    const name = template.replace(/\$(\d)/g, (_, i) => match[Number(i)] ?? '');
    // Compilers' copies of a function (.constprop.0, .isra.1) are that function.
    return name
      .trim()
      .replaceAll(/\s+/g, '_')
      .replaceAll(/[^\x21-\x7e]/g, '')
      .slice(0, 120)
      .replace(/:$/, '');
  }
  return undefined;
}
