import { z } from 'zod';
import { parseSeconds } from './quantity.ts';
import type { KdeltaConfig } from './types.ts';
import { checkYaml, fail, readYaml } from './yamlFile.ts';

const text = z.string().min(1);
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be letters, digits, dot, dash or underscore');
const ref = z.string().regex(/^[^-\s~^:?*[\\][^\s~^:?*[\\]*$/, 'is no name of a branch or tag');
const list = <T extends z.ZodType>(item: T) =>
  z.union([item, z.array(item)]).transform((value) => (Array.isArray(value) ? value : [value]) as z.output<T>[]);
const seconds = z.union([z.number().positive(), z.string()]).transform((value, context) => {
  const number = typeof value === 'number' ? value : parseSeconds(value);
  if (number === null || number <= 0) {
    context.addIssue({ code: 'custom', message: `\`${value}\` is no duration such as 60s or 5m` });
    return z.NEVER;
  }
  return number;
});
const listen = z
  .union([
    z.string().regex(/^(\S+:)?\d+$/, 'must be HOST:PORT'),
    z.strictObject({ host: text, port: z.number().int().min(0).max(65535) }),
  ])
  .transform((value) => {
    if (typeof value !== 'string') return value;
    const at = value.lastIndexOf(':');
    return {
      host: at < 0 ? '127.0.0.1' : value.slice(0, at).replace(/^\[|\]$/g, ''),
      port: Number(value.slice(at + 1)),
    };
  });

const mailRules = z.strictObject({
  mode: z.enum(['draft', 'auto']).default('draft'),
  to: list(text).default(['author']),
  cc: list(text).default([]),
  allow: list(text).default([]),
  per_day: z.number().int().nonnegative().default(20),
  charset: z.enum(['utf-8', 'ascii']).default('utf-8'),
  attach_to_lists: z.boolean().default(false),
});

const bisect = z.union([
  z.boolean().transform((enabled) => ({ enabled, budget: 60, certainty: 0.95 })),
  z.strictObject({
    enabled: z.boolean().default(true),
    budget: z.number().int().positive().default(60),
    certainty: z.number().gt(0.5).lt(1).default(0.95),
  }),
]);

const kconfig = z.union([
  text.transform((base) => ({ base, fragments: [] as string[] })),
  z.strictObject({ base: text, fragments: list(text).default([]) }),
]);

const tree = z.strictObject({
  name,
  url: text,
  reference: text.optional(),
  branches: list(ref),
  baseline: ref,
  poll: seconds.default(300),
  kconfig,
  jobs: list(text),
  hosts: list(text).optional(),
  tbox_groups: list(text).optional(),
  bisect: bisect.default({ enabled: true, budget: 60, certainty: 0.95 }),
  mail: mailRules.default(mailRules.parse({})),
});

const schema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  listen: listen.default({ host: '127.0.0.1', port: 8080 }),
  mail: z
    .strictObject({ smtp: z.url({ protocol: /^smtps?$/, error: 'must be smtp://HOST:PORT' }), from: text })
    .nullable()
    .default(null),
  reading: z.enum(['open', 'token']).default('open'),
  trees: z.array(tree).default([]),
});

/**
 * Reads kdelta.yaml. `url` defaults to the listening address; `tbox_groups` is another word for a tree's `hosts`.
 * Throws InputError KD_YAML_SYNTAX or KD_CONFIG_INVALID with file, line and key.
 */
export function parseConfig(text: string, file: string): KdeltaConfig {
  const yaml = readYaml(text.trim() === '' ? '{}' : text, file, 'KD_CONFIG_INVALID')[0]!;
  const config = checkYaml(yaml, schema);
  const seen = new Set<string>();
  const trees = config.trees.map((entry, index) => {
    if (seen.has(entry.name)) fail(yaml, ['trees', index, 'name'], `\`${entry.name}\` is the name of an earlier tree`);
    seen.add(entry.name);
    const hosts = entry.hosts ?? entry.tbox_groups;
    if (!hosts) fail(yaml, ['trees', index, 'hosts'], 'is missing (names of files in hosts/)');
    return {
      name: entry.name,
      url: entry.url,
      reference: entry.reference,
      branches: entry.branches,
      baseline: entry.baseline,
      pollSeconds: entry.poll,
      kconfig: entry.kconfig,
      jobs: entry.jobs,
      hosts,
      bisect: entry.bisect,
      mail: {
        mode: entry.mail.mode,
        to: entry.mail.to,
        cc: entry.mail.cc,
        allow: entry.mail.allow,
        perDay: entry.mail.per_day,
        charset: entry.mail.charset,
        attachToLists: entry.mail.attach_to_lists,
      },
    };
  });
  return {
    file,
    url: config.url ?? `http://${config.listen.host}:${config.listen.port}`,
    listen: config.listen,
    mail: config.mail,
    reading: config.reading,
    trees,
  };
}
