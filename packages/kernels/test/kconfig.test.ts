import { describe, expect, it } from 'vitest';
import { compilerName } from '../src/deb.ts';
import { kconfigName, parseDebSpec, readKconfig, unmetKconfig } from '../src/index.ts';
import { lostOptions } from '../src/kconfig.ts';

const dir = new URL('../../../kconfig', import.meta.url).pathname;

describe('a kconfig', () => {
  it('is a make target with fragments from the folder', async () => {
    const kconfig = await readKconfig(dir, { base: 'allnoconfig', fragments: ['qemu-x86_64'] });
    expect(kconfig.name).toBe('allnoconfig+qemu-x86_64');
    expect(kconfig.base).toEqual({ target: 'allnoconfig' });
    expect(kconfig.fragments[0]!.text).toContain('CONFIG_VIRTIO_BLK=y');
    expect(kconfig.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is refused by name, with what there is, when it is unknown', async () => {
    await expect(readKconfig(dir, { base: 'allnoconfig', fragments: ['qemu'] })).rejects.toThrow(
      /no kconfig qemu: .*qemu-x86_64/,
    );
    await expect(readKconfig(dir, { base: 'nothing', fragments: [] })).rejects.toMatchObject({ code: 'KD_KCONFIG' });
    await expect(readKconfig(dir, { base: '../package.json', fragments: [] })).rejects.toMatchObject({
      code: 'KD_KCONFIG',
    });
  });

  it('has a short name', () => {
    expect(kconfigName({ base: 'x86_64_defconfig', fragments: ['kvm.config', 'debug'] })).toBe(
      'x86_64_defconfig+kvm+debug',
    );
  });

  it('tells which options it did not get', () => {
    const fragments = [{ text: 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\nCONFIG_D=16\n' }];
    expect(lostOptions('CONFIG_A=y\nCONFIG_B=y\nCONFIG_D=8\n', fragments)).toEqual([
      'CONFIG_B=n (is: y)',
      'CONFIG_C=m (is: n)',
      'CONFIG_D=16 (is: 8)',
    ]);
  });

  it('lacks what a job needs, a module as good as built in', () => {
    const config = 'CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D=250\nCONFIG_E="x y"\n';
    const need = { CONFIG_A: 'm', CONFIG_B: 'y', CONFIG_C: 'n', CONFIG_D: '250', CONFIG_E: 'x y', CONFIG_F: 'n' };
    expect(unmetKconfig(config, need)).toEqual([]);
    expect(unmetKconfig(config, { CONFIG_A: 'n', CONFIG_C: 'y', CONFIG_D: '1000', CONFIG_F: 'm' })).toEqual([
      'CONFIG_A=n (is: y)',
      'CONFIG_C=y (is: n)',
      'CONFIG_D=1000 (is: 250)',
      'CONFIG_F=m (is: n)',
    ]);
  });
});

describe('names', () => {
  it('of compilers are short', () => {
    // Version lines as gcc and clang of Debian 12, 13 and Ubuntu 24.04 print them.
    expect(compilerName('gcc (Debian 12.2.0-14+deb12u1) 12.2.0')).toBe('gcc-12');
    expect(compilerName('x86_64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0')).toBe('gcc-14');
    expect(compilerName('gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0')).toBe('gcc-13');
    expect(compilerName('Debian clang version 14.0.6')).toBe('clang-14');
  });

  it('of package kernels are read', () => {
    expect(parseDebSpec('deb:linux-image-6.12-cloud-amd64')).toEqual({
      kind: 'deb',
      package: 'linux-image-6.12-cloud-amd64',
    });
    expect(parseDebSpec('deb:linux-image-6.12-cloud-amd64=6.12.9-1')).toMatchObject({ version: '6.12.9-1' });
    expect(parseDebSpec('v6.12')).toBeNull();
  });
});
