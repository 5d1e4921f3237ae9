import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDir as cacheFolder } from '@kdelta/home';
import { BootError, type BootOrder, createDriver, type HostDriver } from '@kdelta/hosts';
import type { KernelArtifact } from '@kdelta/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { debianKernel } from './debianGuest.ts';
import { type LabGuest, startLabGuest } from './labGuest.ts';

/*
 * A TCG guest stands for a lab machine. A kexec under emulation takes 20 to 60 s, so the whole story is
 * told once, in order, on one guest.
 */
const cacheDir = cacheFolder();
const signal = new AbortController().signal;
let lab: LabGuest;
let driver: HostDriver;
let first: KernelArtifact;
let other: KernelArtifact;
let dir: string;
let count = 0;

const order = (kernel: KernelArtifact, cmdline = ''): BootOrder => ({
  token: `t${++count}`,
  kernel,
  cmdline,
  dir: join(dir, String(count)),
});

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kdelta-kexec-'));
  first = await debianKernel('linux-image-6.12-cloud-amd64');
  other = await debianKernel('linux-image-cloud-amd64');
  lab = await startLabGuest(cacheDir, first);
  driver = createDriver(lab.host, { cacheDir });
}, 300_000);

afterAll(async () => {
  await lab?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('a lab machine booted by kexec', () => {
  it('boots one kernel three times, each a new boot with its own token, and another', {
    timeout: 900_000,
  }, async () => {
    const bootIds = new Set<string>();
    for (const kernel of [first, first, first, other]) {
      const wanted = order(kernel);
      const host = await driver.boot(wanted, signal);
      expect(host.evidence.release).toBe(kernel.release);
      expect(host.evidence.cmdline).toContain(`kdelta.boot=${wanted.token}`);
      bootIds.add(host.evidence.bootId);
      await host.release();
    }
    expect(bootIds.size).toBe(4);
  });

  it('has its default kernel back after one that panics, which is class boot', { timeout: 600_000 }, async () => {
    const failed = driver.boot(order(first, 'rdinit=/no/such/init'), signal);
    await expect(failed).rejects.toMatchObject({ code: 'KD_BOOT_WRONG_KERNEL', failureClass: 'boot' });
    await expect(failed).rejects.toThrow(/without our token/);
  });

  it('refuses an image that was cut short, by its hash, before kexec', { timeout: 300_000 }, async () => {
    const image = join(dir, 'bzImage');
    await writeFile(image, (await readFile(first.image)).subarray(0, 4 * 2 ** 20));
    const cut = { ...first, buildKey: 'cutshort', image };
    const wanted = order(cut);
    const error = await driver.boot(wanted, signal).catch((e) => e);
    expect(error).toBeInstanceOf(BootError);
    expect(error).toMatchObject({ code: 'KD_BOOT_IMAGE', failureClass: 'infra' });
    expect(await lab.console()).not.toContain(`kdelta.boot=${wanted.token}`);
  });

  it('goes on after all that', { timeout: 300_000 }, async () => {
    const host = await driver.boot(order(first), signal);
    expect((await host.shell.exec('uname -r')).stdout.toString().trim()).toBe(first.release);
    await host.release();
  });
});
