import type { HostFile } from '@kdelta/jobs';

export type Accel = 'kvm' | 'tcg';

/** Everything TCG has but the fifth level of page tables, which makes each of its TLB misses dearer. */
export const TCG_CPU = 'max,la57=off';

export interface QemuMachine {
  /** Shows in the process list, so that what is left behind can be found. */
  name: string;
  boot: Extract<HostFile['boot'], { method: 'qemu' }>;
  accel: Accel;
  image: string;
  initrd?: string;
  rootfs: string;
  modulesDisk?: string;
  /** A blank disk for the job, found in the guest by its serial number. */
  scratchDisk?: { file: string; serial: string };
  cmdline: string;
  /** Restart on a reset instead of ending: for a guest that stands for a lab machine. */
  restarts?: boolean;
}

/**
 * QEMU's arguments for a guest, to be started in the boot's folder: console.log, qmp.sock and the disk's throw-away
 * layer lie there. SSH is forwarded from a loopback port that QEMU chooses; the guest reaches nothing else.
 */
export function qemuArguments(machine: QemuMachine): string[] {
  const { boot, accel } = machine;
  const accelerator = boot.icount
    ? ['-accel', 'tcg', '-icount', 'shift=1']
    : ['-accel', accel === 'kvm' ? 'kvm' : boot.nrCpu > 1 ? 'tcg,thread=multi' : 'tcg'];
  const disk = (id: string, file: string, how: string, more = ''): string[] => [
    ...['-drive', `if=none,id=${id},format=raw,file=${escaped(file)},${how}`],
    ...['-device', `virtio-blk-pci,drive=${id}${more}`],
  ];
  return [
    ...['-name', machine.name, '-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'pc,vmport=off'],
    ...(machine.restarts ? [] : ['-no-reboot']),
    ...accelerator,
    ...[
      '-cpu',
      accel === 'kvm' ? 'host' : TCG_CPU,
      '-smp',
      String(boot.nrCpu),
      '-m',
      `${Math.floor(boot.memory / 2 ** 20)}M`,
    ],
    ...['-kernel', machine.image, ...(machine.initrd ? ['-initrd', machine.initrd] : []), '-append', machine.cmdline],
    ...disk('root', machine.rootfs, 'snapshot=on,cache=unsafe'),
    ...(machine.modulesDisk ? disk('modules', machine.modulesDisk, 'readonly=on') : []),
    ...(machine.scratchDisk
      ? disk('scratch', machine.scratchDisk.file, 'cache=unsafe,discard=unmap', `,serial=${machine.scratchDisk.serial}`)
      : []),
    ...[
      '-netdev',
      'user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:0-:22',
      '-device',
      'virtio-net-pci,netdev=net,romfile=',
    ],
    ...['-chardev', 'file,id=console,path=console.log', '-serial', 'chardev:console'],
    ...['-qmp', 'unix:qmp.sock,server=on,wait=off', '-monitor', 'none'],
  ];
}

/** A comma ends an option's value in QEMU unless doubled. */
const escaped = (file: string): string => file.replaceAll(',', ',,');

/**
 * The kernel's command line in a guest. `panic=-1` with QEMU's -no-reboot ends the guest at a panic; without
 * `no_timer_check` a busy machine makes the kernel believe that its timer is broken.
 */
export function guestCmdline(token: string, extra: string): string {
  return `console=ttyS0 root=/dev/vda rw panic=-1 net.ifnames=0 no_timer_check kdelta.boot=${token}${extra ? ` ${extra}` : ''}`;
}
