import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { parseConfig } from '@kdelta/jobs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

// There is no Docker engine where the tests run, so docker-compose.yml is read against the part of the compose
// specification that it may use (strict: a key that isn't named here is an error), and what it names is looked up.

const home = homeDir();
const read = (name: string) => readFileSync(join(home, name), 'utf8');

const duration = z.string().regex(/^(\d+h)?(\d+m)?(\d+s)?$/);
const service = z.strictObject({
  image: z.string().regex(/^[a-z0-9./-]+:[\w.-]+$/, 'an image needs a tag'),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^(\d+\.\d+\.\d+\.\d+:)?\d+:\d+$/)).optional(),
  volumes: z.array(z.string().regex(/^[^:]+:\/[^:]+(:ro)?$/)).optional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_started', 'service_healthy']) }))
    .optional(),
  healthcheck: z
    .strictObject({ test: z.array(z.string()).min(2), interval: duration, retries: z.number().int().positive() })
    .optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: duration.optional(),
});
const file = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
  'x-kdelta': z.unknown(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

const compose = file.parse(parse(read('docker-compose.yml'), { merge: true }));
const services = Object.entries(compose.services);
const ours = services.filter(([, s]) => s.build);

/** Public images, with the ports that they listen on, the variables that they read and the programs of their checks. */
const known: Record<string, { ports: number[]; variables: string[]; checks: string[] }> = {
  'postgres:17-bookworm': {
    ports: [5432],
    variables: ['POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'],
    checks: ['pg_isready'],
  },
  'redis:7-bookworm': { ports: [6379], variables: [], checks: ['redis-cli'] },
  'axllent/mailpit:v1.21': { ports: [1025, 8025], variables: [], checks: [] },
};

test('has postgres, redis, server, watcher, worker and a mail catcher', () => {
  expect(services.map(([name]) => name).sort()).toEqual(['mail', 'postgres', 'redis', 'server', 'watcher', 'worker']);
});

test('every image is a known one or built from a Dockerfile of this repository', () => {
  for (const [name, s] of services) {
    if (s.build) expect(existsSync(join(home, s.build.context, s.build.dockerfile)), name).toBe(true);
    else expect(Object.keys(known), name).toContain(s.image);
  }
  const dockerfile = read('Dockerfile');
  const entry = /ENTRYPOINT \["node", "\/opt\/kdelta\/(.*)"\]/.exec(dockerfile)?.[1];
  expect(JSON.parse(read('package.json')).bin.kdelta).toBe(entry);
  for (const [, script] of dockerfile.matchAll(/RUN node (\S+)/g)) expect(existsSync(join(home, script!))).toBe(true);
});

test('every command is a subcommand of kdelta', () => {
  const index = read('apps/cli/src/index.ts');
  for (const [name, s] of ours) {
    expect(s.command, name).toHaveLength(1);
    expect(index, name).toMatch(new RegExp(`^  ${s.command![0]}: \\{$`, 'm'));
  }
});

test('every published port is one that its service listens on', () => {
  const config = parseConfig(read('kdelta.example.yaml'), 'kdelta.example.yaml');
  for (const [name, s] of services) {
    for (const port of s.ports ?? []) {
      const inside = Number(port.split(':').at(-1));
      const listens = s.build ? [config.listen.port] : known[s.image]!.ports;
      expect(listens, `${name} ${port}`).toContain(inside);
    }
  }
  const smtp = new URL(config.mail!.smtp);
  expect(known[compose.services[smtp.hostname]!.image]!.ports).toContain(Number(smtp.port));
});

test('every variable is one that its service reads, and names services that exist', () => {
  const sources = ['packages', 'apps'].flatMap((dir) =>
    readdirSync(join(home, dir), { recursive: true, encoding: 'utf8' })
      .filter((f) => /\/src\/.*\.tsx?$/.test(`/${f}`) && !f.includes('node_modules'))
      .map((f) => readFileSync(join(home, dir, f), 'utf8')),
  );
  for (const [name, s] of services) {
    for (const [variable, value] of Object.entries(s.environment ?? {})) {
      if (s.build) {
        const reads = new RegExp(`env(\\.${variable}\\b|\\['${variable}'\\])`);
        expect(
          sources.some((text) => reads.test(text)),
          `${name} ${variable}`,
        ).toBe(true);
      } else expect(known[s.image]!.variables, `${name} ${variable}`).toContain(variable);
      const host = /^(?:postgres|redis):\/\/(?:[^@]*@)?([a-z]+):(\d+)/.exec(value);
      if (host) expect(known[compose.services[host[1]!]!.image]!.ports).toContain(Number(host[2]));
    }
  }
});

test('what services depend on exists and has a health check where one is waited for', () => {
  for (const [, s] of services) {
    for (const [name, { condition }] of Object.entries(s.depends_on ?? {})) {
      expect(compose.services[name]).toBeDefined();
      if (condition === 'service_healthy') expect(compose.services[name]!.healthcheck).toBeDefined();
    }
    if (s.healthcheck) expect(known[s.image]!.checks).toContain(s.healthcheck.test[1]);
    for (const volume of s.volumes ?? []) {
      const from = volume.split(':')[0]!;
      if (!from.startsWith('.')) expect(Object.keys(compose.volumes)).toContain(from);
    }
  }
});

test('the command that the compose file starts is there', (ctx) => {
  const bundle = join(home, 'dist', 'kdelta.mjs');
  if (!existsSync(bundle)) ctx.skip('nothing bundled: npm run build');
  const help = execFileSync(process.execPath, [bundle, '--help'], { encoding: 'utf8' });
  for (const [, s] of ours) expect(help).toMatch(new RegExp(`^ {2}${s.command![0]}\\b`, 'm'));
});
