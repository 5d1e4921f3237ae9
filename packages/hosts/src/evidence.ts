import { BootError } from './errors.ts';
import type { BootEvidence, BootOrder, Shell } from './types.ts';

/** Builtins of the shell only: each process costs milliseconds under emulation. */
const COMMAND =
  'read -r id </proc/sys/kernel/random/boot_id; read -r taint </proc/sys/kernel/tainted; read -r release </proc/sys/kernel/osrelease; read -r line </proc/cmdline; echo "$id"; echo "$taint"; echo "$release"; echo "$line"';

/** What runs on a host now. */
export async function readEvidence(shell: Shell, timeoutMs = 60_000): Promise<BootEvidence> {
  const { stdout } = await shell.exec(COMMAND, { timeoutMs, maxBytes: 16_384 });
  const [bootId = '', tainted = '', release = '', ...cmdline] = stdout.toString('utf8').trimEnd().split('\n');
  return { bootId, tainted: Number(tainted), release, cmdline: cmdline.join(' ').trim() };
}

/** What is wrong with a host's evidence for an order, or null when it is the right boot (DESIGN.md, "State"). */
export function wrongBoot(order: BootOrder, evidence: BootEvidence, previousBootId?: string): string | null {
  if (evidence.bootId === previousBootId) return 'the host has not restarted';
  if (!hasToken(evidence.cmdline, order.token))
    return `kernel ${evidence.release} came up without our token: the ordered kernel fell over and another started`;
  if (evidence.release !== order.kernel.release)
    return `kernel ${evidence.release} runs, ordered was ${order.kernel.release}`;
  return null;
}

export function hasToken(cmdline: string, token: string): boolean {
  return cmdline.split(/\s+/).includes(`kdelta.boot=${token}`);
}

/** Throws KD_BOOT_WRONG_KERNEL, class `boot`, unless the ordered kernel runs. */
export function requireRightBoot(
  order: BootOrder,
  evidence: BootEvidence,
  console: string,
  previousBootId?: string,
): void {
  const wrong = wrongBoot(order, evidence, previousBootId);
  if (wrong) throw new BootError('KD_BOOT_WRONG_KERNEL', 'boot', wrong, console);
}
