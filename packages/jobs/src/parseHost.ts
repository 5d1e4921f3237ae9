import { z } from 'zod';
import { parseSize } from './quantity.ts';
import type { HostFile } from './types.ts';
import { checkYaml, fail, readYaml, type YamlFile } from './yamlFile.ts';

const text = z.string().min(1);
const count = z.number().int().positive();
const size = z.union([z.number().int().positive(), z.string()]).transform((value, context) => {
  const bytes = typeof value === 'number' ? value : parseSize(value);
  if (bytes === null || bytes <= 0) {
    context.addIssue({ code: 'custom', message: `\`${value}\` is no size such as 512M or 64G` });
    return z.NEVER;
  }
  return bytes;
});
const port = z.number().int().min(1).max(65535);

const ssh = z.strictObject({
  host: text.optional(),
  port: z.union([port, z.literal('auto')]).optional(),
  user: text.default('root'),
  key: text.optional(),
  host_key: text
    .regex(/^(ssh-|ecdsa-)\S+ [A-Za-z0-9+/]+=*( .*)?$/, 'must be a public key line: ssh-ed25519 AAAA…')
    .optional(),
});

const boot = z.discriminatedUnion('method', [
  z.strictObject({
    method: z.literal('qemu'),
    accel: z.enum(['kvm', 'tcg', 'auto']).default('auto'),
    icount: z.boolean().default(false),
    nr_cpu: count.optional(),
    memory: size.optional(),
    rootfs: text.default('debian'),
  }),
  z.strictObject({ method: z.literal('kexec') }),
  z.strictObject({ method: z.literal('grub') }),
  z.strictObject({ method: z.literal('none') }),
]);

/** What LKP's host files say beyond what kdelta uses; kept readable, not interpreted. */
const LKP_ONLY = [
  'arch', 'brand', 'category', 'disk_types', 'hdd_partitions', 'idle_runtime', 'kernel_cmdline', 'kernel_cmdline_hw',
  'need_kconfig', 'need_kconfig_hw', 'nr_hdd_partitions', 'nr_socket', 'nr_ssd_partitions', 'nr_pmem_partitions',
  'pmem_partitions', 'pkg', 'rootfs_disk', 'rootfs_partition', 'rootfs_size', 'ssd_partitions', 'swap_partitions', 'ucode',
] as const; // biome-ignore format: a list of words

const schema = z.strictObject({
  tbox_group: text.optional(),
  model: text.optional(),
  nr_cpu: count.optional(),
  nr_node: count.default(1),
  memory: size.optional(),
  access: z.strictObject({ ssh }).optional(),
  boot: boot.default({ method: 'none' }),
  packages: z.enum(['check', 'install', 'trust']).optional(),
  scratch_disk: z.union([z.number(), text]).transform(String).optional(),
  rebuild_spread_pct: z.record(text, z.number().min(0).max(100)).optional(),
  power: z.strictObject({ on: text, off: text, status: text }).optional(),
  ...Object.fromEntries(LKP_ONLY.map((key) => [key, z.unknown().optional()])),
});

/**
 * Reads a host file: LKP's keys and ours (`access`, `boot`, `power`). Its name is the file's; `tbox_group` defaults to it.
 * Throws InputError KD_YAML_SYNTAX or KD_HOST_INVALID with file, line and key.
 */
export function parseHost(text: string, file: string): HostFile {
  const yaml = readYaml(text, file, 'KD_HOST_INVALID')[0] ?? readYaml('{}', file, 'KD_HOST_INVALID')[0]!;
  const host = checkYaml(yaml, schema) as z.output<typeof schema>;
  const guest = host.boot.method === 'qemu' ? host.boot : null;
  const nrCpu = guest?.nr_cpu ?? host.nr_cpu ?? (guest ? 1 : undefined);
  const memory = guest?.memory ?? host.memory ?? (guest ? 2 ** 30 : undefined);
  if (nrCpu === undefined) fail(yaml, ['nr_cpu'], 'is missing (the number of CPUs, for percentages in job files)');
  if (memory === undefined) fail(yaml, ['memory'], 'is missing (such as 64G, for percentages in job files)');
  if (guest && host.nr_cpu !== undefined && host.nr_cpu !== nrCpu)
    fail(yaml, ['nr_cpu'], `contradicts boot.nr_cpu (${nrCpu}); drop one`);
  if (guest && host.memory !== undefined && host.memory !== memory)
    fail(yaml, ['memory'], `contradicts boot.memory (${memory} bytes); drop one`);
  if (guest?.icount && nrCpu !== 1)
    fail(yaml, ['boot', 'nr_cpu'], 'must be 1 with icount: instructions are counted on one CPU');
  if (guest?.icount && guest.accel === 'kvm') fail(yaml, ['boot', 'accel'], 'must be tcg with icount');
  const access = host.access?.ssh;
  if (!guest && !access?.host) fail(yaml, ['access'], 'needs ssh.host: only boot method qemu makes its own machine');
  if (!guest && access?.port === 'auto') fail(yaml, ['access', 'ssh', 'port'], 'auto is for boot method qemu');
  const name = file.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
  return {
    name,
    file,
    tboxGroup: host.tbox_group ?? name,
    model: host.model,
    nrCpu,
    nrNode: host.nr_node,
    memory,
    access: access
      ? {
          host: access.host,
          port: access.port ?? (guest ? 'auto' : 22),
          user: access.user,
          key: access.key,
          hostKey: access.host_key,
        }
      : null,
    boot: guest
      ? {
          method: 'qemu',
          accel: guest.icount ? 'tcg' : guest.accel,
          icount: guest.icount,
          nrCpu,
          memory,
          rootfs: guest.rootfs,
        }
      : { method: host.boot.method as 'kexec' | 'grub' | 'none' },
    power: host.power,
    packages: host.packages,
    scratchDisk: scratchDisk(yaml, host.scratch_disk, guest !== null),
    rebuildSpreadPct: host.rebuild_spread_pct,
    deterministic: guest?.icount ?? false,
  };
}

/** A guest is given a disk of the size named; a lab machine's own is named by its device. */
function scratchDisk(yaml: YamlFile, given: string | undefined, isGuest: boolean): HostFile['scratchDisk'] {
  if (given === undefined) return undefined;
  if (!isGuest) {
    if (!/^\/dev\/[\w./:+-]+$/.test(given)) fail(yaml, ['scratch_disk'], 'must be a device such as /dev/disk/by-id/…');
    return { device: given };
  }
  const bytes = parseSize(given);
  // The size is in the disk's serial number, in MiB.
  if (bytes === null || bytes < 64 * 2 ** 20 || bytes % 2 ** 20 !== 0)
    fail(yaml, ['scratch_disk'], `\`${given}\` is no size such as 8G (whole MiB, at least 64M)`);
  return { bytes };
}
