/** One small change to one file, as a developer could have made it. */
export interface Edit {
  file: string;
  author: string;
  subject: string;
  body: string;
  /** The file's new text, or null where this source has not what the change is about. */
  apply: (text: string) => string | null;
}

/** Names of roles, not of people. */
const author = (role: string) => `${role} Developer <${role.toLowerCase().replaceAll(' ', '.')}@example.org>`;

const swap = (from: string, to: string) => (text: string) =>
  text.includes(from) ? text.replace(from, () => to) : null;

const edit = (file: string, role: string, subject: string, body: string, apply: Edit['apply']): Edit => ({
  file,
  author: author(role),
  subject,
  body,
  apply,
});

/** Changes that alter the kernel but no benchmark. */
export const NEIGHBOURS: Edit[] = [
  edit(
    'mm/oom_kill.c',
    'OOM',
    'mm/oom_kill: say which task list is printed',
    'The header above the list of tasks gives units but not what the list is. Name it.',
    swap('Tasks state (memory values in pages):', 'Eligible tasks (memory values in pages):'),
  ),
  edit(
    'mm/swapfile.c',
    'Swap',
    'mm/swapfile: tell an empty swap header from an empty file',
    'The same words stand for two different mistakes. Make the first one its own.',
    swap('pr_warn("Empty swap-file\\n");', 'pr_warn("Empty swap header\\n");'),
  ),
  edit(
    'kernel/pid.c',
    'Process',
    'pid: print pid_max in one form at boot',
    'Other boot messages put values after an equals sign.',
    swap('pid_max: default: %u minimum: %u', 'pid_max: default=%u minimum=%u'),
  ),
  edit(
    'drivers/char/random.c',
    'Random',
    'random: say that the generator was seeded',
    '"init done" leaves open what was initialized.',
    swap('pr_notice("crng init done\\n");', 'pr_notice("crng seeded and ready\\n");'),
  ),
  edit(
    'drivers/block/zram/zram_drv.c',
    'Zram',
    'zram: name the file when a backing device is set up',
    'With several devices the log did not tell which file belongs to which message.',
    swap('setup backing device %s', 'set up backing device from %s'),
  ),
  edit(
    'fs/eventpoll.c',
    'Epoll',
    'eventpoll: leave a little more memory to others',
    'The limit on watches is 1/25 of low memory. Take 1/26, which keeps the sum of all such limits below a third.',
    swap('(si.totalram - si.totalhigh) / 25)', '(si.totalram - si.totalhigh) / 26)'),
  ),
  edit(
    'fs/notify/inotify/inotify_user.c',
    'Inotify',
    'inotify: double the default event queue',
    'Indexers lose events during the unpacking of large archives.',
    swap('inotify_max_queued_events = 16384;', 'inotify_max_queued_events = 32768;'),
  ),
  edit(
    'kernel/reboot.c',
    'Reboot',
    'reboot: say "system halted" the same way in both places',
    'Scripts that watch consoles had to look for two spellings.',
    swap('Power off not available: System halted instead', 'Power off not available. System halted'),
  ),
  edit(
    'ipc/ipc_sysctl.c',
    'IPC',
    'ipc: name the setting that has no effect',
    'The message did not say that the whole family is meant.',
    swap('writing to auto_msgmni has no effect', 'writing to kernel.auto_msgmni has no effect'),
  ),
  edit(
    'net/unix/af_unix.c',
    'Sockets',
    'af_unix: print the socket inode pointer in one style',
    'Other families say "live socket".',
    swap('Attempt to release alive unix socket: %p', 'Attempt to release live unix socket: %p'),
  ),
  edit(
    'net/ipv4/af_inet.c',
    'Network',
    'ipv4: say "live socket" as other families do',
    'No functional change but the text of one message.',
    swap('Attempt to release alive inet socket %p', 'Attempt to release live inet socket %p'),
  ),
  edit(
    'fs/jbd2/journal.c',
    'Journal',
    'jbd2: tell what failed during recovery',
    'Two messages differed only in one word and were taken for each other.',
    swap('JBD2: journal recovery failed', 'JBD2: replaying the journal failed'),
  ),
  edit(
    'mm/madvise.c',
    'Memory',
    'mm/madvise: shorten the message about soft offlining',
    'It did not fit on a console of 80 columns.',
    swap('Soft offlining pfn %#lx at process virtual address %#lx', 'Soft offlining pfn %#lx at address %#lx'),
  ),
  edit(
    'fs/overlayfs/super.c',
    'Overlay',
    'ovl: say what a work directory could not be made for',
    'The errno alone did not help those who reported it.',
    swap('failed to create directory %s/%s (errno: %i)', 'failed to create work directory %s/%s (errno: %i)'),
  ),
  edit(
    'drivers/virtio/virtio_balloon.c',
    'Virtio',
    'virtio_balloon: shorten the message about missing pages',
    'It is printed often, and wide consoles are rare.',
    swap("Out of puff! Can't get %u pages", 'Out of puff! No %u pages to take'),
  ),
  edit(
    'block/genhd.c',
    'Block',
    'block: say from what to what a capacity changed',
    'Numbers without words were misread.',
    swap('detected capacity change from %lld to %lld', 'capacity changed from %lld to %lld sectors'),
  ),
  edit(
    'kernel/ucount.c',
    'Namespace',
    'ucount: use a larger hash table',
    'Machines with thousands of users walk long chains when they log in.',
    swap('#define UCOUNTS_HASHTABLE_BITS 10', '#define UCOUNTS_HASHTABLE_BITS 11'),
  ),
  edit(
    'fs/aio.c',
    'AIO',
    'aio: raise the default number of requests a little',
    'Databases in containers ask for more than they get.',
    swap('aio_max_nr = 0x10000;', 'aio_max_nr = 0x12000;'),
  ),
  edit(
    'ipc/mqueue.c',
    'Queue',
    'mqueue: one spelling for a failed registration',
    'The System V part says which sysctl failed; so does this one now.',
    swap('sysctl registration failed', 'mqueue sysctl registration failed'),
  ),
];

/** Changes of comments that also move the lines below them. */
export const COMMENT_ONLY: Edit[] = [
  edit(
    'fs/filesystems.c',
    'Documentation',
    'fs: say who holds the module after a lookup',
    'Callers have been seen to drop the reference twice.',
    swap(
      'static struct file_system_type *__get_fs_type(',
      '/*\n * On success the module of the file system, if it is one, is held: the\n * caller gives it back with put_filesystem().\n */\nstatic struct file_system_type *__get_fs_type(',
    ),
  ),
  edit(
    'fs/proc/uptime.c',
    'Documentation',
    'proc: explain the second number of /proc/uptime',
    'It is the sum over all processors and may exceed the first.',
    swap(
      'static int uptime_proc_show(',
      '/*\n * Seconds since boot, then seconds that all processors together were idle:\n * on more than one the second number may exceed the first.\n */\nstatic int uptime_proc_show(',
    ),
  ),
  edit(
    'mm/oom_kill.c',
    'Documentation',
    'mm/oom_kill: describe the fields of the task list',
    'The header is short; say here what it stands for.',
    swap(
      'static int dump_task(',
      '/*\n * One line per eligible task: ids, then memory in pages, then the score\n * adjustment that user space asked for.\n */\nstatic int dump_task(',
    ),
  ),
];

/** A change that doesn't compile, and the one after it that mends it. */
export const BROKEN: [Edit, Edit][] = [
  [
    edit(
      'fs/proc/uptime.c',
      'Proc',
      'proc: name the loop variable after what it counts',
      'It runs over processors.',
      swap('for_each_possible_cpu(i) {', 'for_each_possible_cpu(cpu) {'),
    ),
    edit(
      'fs/proc/uptime.c',
      'Proc',
      'proc: finish the renaming in uptime_proc_show()',
      'The declaration and one use were left behind.',
      (text) =>
        text
          .replace('\tint i;\n', '\tint cpu;\n')
          .replace('kcpustat_cpu_fetch(&kcs, i)', 'kcpustat_cpu_fetch(&kcs, cpu)')
          .replace('get_idle_time(&kcs, i)', 'get_idle_time(&kcs, cpu)'),
    ),
  ],
];

/** A change with which no kernel boots, and the one after it that mends it. */
export const PANICKING: [Edit, Edit][] = [
  [
    edit(
      'fs/filesystems.c',
      'Filesystem',
      'fs: do not go on without /proc/filesystems',
      'mount(8) without a type needs it.',
      swap(
        '\tproc_create_single("filesystems", 0, NULL, filesystems_proc_show);\n',
        '\tif (proc_create_single("filesystems", 0, NULL, filesystems_proc_show))\n\t\tpanic("fs: no /proc/filesystems");\n',
      ),
    ),
    edit(
      'fs/filesystems.c',
      'Filesystem',
      'fs: turn the test for /proc/filesystems around',
      'It stopped every machine on which the file could be made.',
      swap('\tif (proc_create_single("filesystems"', '\tif (!proc_create_single("filesystems"'),
    ),
  ],
];

/** What the culprit does on each anonymous fault, and how many instructions one turn of its loop takes (gcc 12, x86-64). */
const SLOWDOWNS = [
  {
    subject: 'mm: check that fresh anonymous pages are clear',
    body: 'Architectures may hand out pages that the device cleared. Read the page once\nbefore it is mapped and refuse it when it is not clear.',
    role: 'Hardening',
    name: 'anon_page_is_clear',
    step: 'bits |= READ_ONCE(word[i % words]);',
  },
  {
    subject: 'mm: prepare anonymous pages in memory order',
    body: 'Touch the words of a new page in order before it is mapped, so that the first\naccess of the program finds it near.',
    role: 'Locality',
    name: 'anon_page_prepare',
    step: 'WRITE_ONCE(word[i % words], 0);',
  },
  {
    subject: 'mm: keep a checksum of new anonymous pages for debugging',
    body: 'A page that is not zero when it is mapped would show in the sum.',
    role: 'Debugging',
    name: 'anon_page_checksum',
    step: 'bits += READ_ONCE(word[i % words]);',
  },
] as const;

/** How many instructions an anonymous fault of pft takes on the icount host, with what its kernel and program do for it. */
const FAULT_INSTRUCTIONS = 6100;
const TURN_INSTRUCTIONS = 5;

/**
 * The commit that slows anonymous faults so that about `targetPct` percent fewer happen in the same time: a loop over the words of the
 * new page, as often as the target asks for.
 */
export function slowFaults(targetPct: number, flavour: number): Edit {
  const kind = SLOWDOWNS[flavour % SLOWDOWNS.length]!;
  const share = targetPct / 100;
  const turns = Math.max(16, Math.round((FAULT_INSTRUCTIONS * share) / (1 - share) / TURN_INSTRUCTIONS));
  const code = `/*
 * ${kind.body.split('\n').join('\n * ')}
 */
static noinline void ${kind.name}(struct folio *folio)
{
\tunsigned long words = PAGE_SIZE / sizeof(unsigned long);
\tunsigned long *word = folio_address(folio);
\tunsigned long bits = 0;
\tunsigned int i;

\tfor (i = 0; i < ${turns}; i++)
\t\t${kind.step}
\tWARN_ON_ONCE(bits);
}

`;
  return edit('mm/memory.c', kind.role, kind.subject, kind.body, (text) => {
    const start = /\nstatic vm_fault_t do_anonymous_page\(struct vm_fault \*vmf\)\n\{/.exec(text);
    if (!start) return null;
    const comment = text.lastIndexOf('\n/*', start.index);
    const got = '\tif (!folio)\n\t\tgoto oom;\n';
    const at = text.indexOf(got, start.index);
    if (comment < 0 || at < 0) return null;
    const called = at + got.length;
    return `${text.slice(0, comment + 1)}${code}${text.slice(comment + 1, called)}\t${kind.name}(folio);\n${text.slice(called)}`;
  });
}
