import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from './deb.ts';
import { KernelError } from './errors.ts';

/** What a kernel is configured with, read and ready to hand to kbuild. */
export interface KconfigInput {
  /** `allnoconfig+qemu-x86_64`: for people, in pages and mails. */
  name: string;
  /** A make target (`x86_64_defconfig`), or the text of a whole .config. */
  base: { target: string } | { text: string };
  /** Texts of the fragments, in order: later ones win. */
  fragments: { name: string; text: string }[];
  /** sha256 over all of it. */
  hash: string;
}

/** The name of a base and its fragments as one word. */
export function kconfigName(kconfig: { base: string; fragments: string[] }): string {
  return [kconfig.base, ...kconfig.fragments].map((name) => name.replace(/\.config$/, '')).join('+');
}

/**
 * Finds base and fragments in `dir` (`NAME` or `NAME.config`); a base that is no file there is a make target of the tree and must
 * end in `config`. Throws KD_KCONFIG naming what is there.
 */
export async function readKconfig(dir: string, kconfig: { base: string; fragments: string[] }): Promise<KconfigInput> {
  const baseText = await readNamed(dir, kconfig.base);
  if (baseText === null && !/^[a-z0-9_-]*config$/.test(kconfig.base)) throw await unknownKconfig(dir, kconfig.base);
  const base = baseText === null ? { target: kconfig.base } : { text: baseText };
  const fragments: KconfigInput['fragments'] = [];
  for (const name of kconfig.fragments) {
    const text = await readNamed(dir, name);
    if (text === null) throw await unknownKconfig(dir, name);
    fragments.push({ name, text });
  }
  return {
    name: kconfigName(kconfig),
    base,
    fragments,
    hash: hash(JSON.stringify([base, fragments.map((f) => f.text)])),
  };
}

/** Options that the fragments ask for and `config` doesn't have as asked, as `CONFIG_X=y (is: n)`. */
export function lostOptions(config: string, fragments: { text: string }[]): string[] {
  const asked = new Map<string, string>();
  for (const fragment of fragments) for (const [key, value] of options(fragment.text)) asked.set(key, value);
  const got = new Map(options(config));
  return [...asked]
    .filter(([key, value]) => (got.get(key) ?? 'n') !== value)
    .map(([key, value]) => `${key}=${value} (is: ${got.get(key) ?? 'n'})`);
}

/**
 * What a job needs (`need_kconfig`: option → y, m, n or a value) and a kernel's `config` doesn't have, as `CONFIG_X=y (is: n)`.
 * A module is as good as built in, and the other way round (LKP's rule).
 */
export function unmetKconfig(config: string, need: Record<string, string>): string[] {
  const got = new Map(options(config));
  const asOne = (value: string) => (value === 'm' ? 'y' : value.replace(/^"(.*)"$/, '$1'));
  return Object.entries(need)
    .filter(([key, wanted]) => asOne(got.get(key) ?? 'n') !== asOne(wanted))
    .map(([key, wanted]) => `${key}=${wanted} (is: ${got.get(key) ?? 'n'})`);
}

function options(text: string): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const set = /^(CONFIG_\w+)=(.*)$/.exec(line);
    if (set) return [[set[1]!, set[2]!]];
    const unset = /^# (CONFIG_\w+) is not set$/.exec(line);
    return unset ? [[unset[1]!, 'n']] : [];
  });
}

async function readNamed(dir: string, name: string): Promise<string | null> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) throw new KernelError('KD_KCONFIG', `not a kconfig name: ${name}`);
  for (const file of [`${name}.config`, name]) {
    try {
      return await readFile(join(dir, file), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return null;
}

async function unknownKconfig(dir: string, name: string): Promise<KernelError> {
  const there = await readdir(dir).catch(() => [] as string[]);
  const list = there.map((file) => file.replace(/\.config$/, '')).join(', ') || 'nothing';
  return new KernelError(
    'KD_KCONFIG',
    `no kconfig ${name}: ${dir} has ${list}; a base may also be a make target such as x86_64_defconfig`,
  );
}
