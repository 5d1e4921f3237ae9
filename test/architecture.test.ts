import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { homeDir } from '@kdelta/home';
import { expect, test } from 'vitest';

// Arrows go down only: apps → steps → edge packages → pure packages. What an `import` names decides, types included.

const root = homeDir();
const apps = readdirSync(join(root, 'apps')).map((name) => `apps/${name}`);
const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
const pure = ['matrix', 'stats', 'bisect', 'jobs', 'report'].map((name) => `packages/${name}`);
/** Of its arguments these make their results, and of nothing else. */
const pureModules = ['node:crypto', 'node:zlib'];
/** `kdelta up` is all the apps in one process. */
const startedByCommand = ['apps/server', 'apps/watcher', 'apps/worker'];

interface Import {
  file: string;
  name: string;
}

function importsOf(workspace: string): Import[] {
  const src = join(root, workspace, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      const named = text.matchAll(
        /^(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
      );
      return [...named].map((match) => ({
        file: relative(root, join(src, file)),
        name: (match[1] ?? match[2] ?? match[3]) as string,
      }));
    });
}

/** `apps/x` or `packages/x` of an import of another workspace. */
function workspaceOf({ name }: Import): string | null {
  const short = /^@kdelta\/([^/]+)/.exec(name)?.[1];
  if (short === undefined) return null;
  return apps.includes(`apps/${short}`) ? `apps/${short}` : `packages/${short}`;
}

const all = new Map([...apps, ...packages].map((workspace) => [workspace, importsOf(workspace)]));
const shown = (wrong: Import[]) => wrong.map(({ file, name }) => `${file}: ${name}`);
const of = (workspaces: string[]) => workspaces.flatMap((workspace) => all.get(workspace) ?? []);

test('the imports of every workspace are found', () => {
  for (const workspace of ['apps/cli', 'apps/server', 'packages/steps', 'packages/report'])
    expect(all.get(workspace)?.length, workspace).toBeGreaterThan(10);
});

test('no app imports another, but for the command, which starts them', () => {
  const wrong = apps.flatMap((app) =>
    of([app]).filter((one) => {
      const other = workspaceOf(one);
      return other?.startsWith('apps/') && other !== app && !(app === 'apps/cli' && startedByCommand.includes(other));
    }),
  );
  expect(shown(wrong)).toEqual([]);
});

test('the command takes other apps by their front door only', () => {
  const wrong = of(['apps/cli']).filter(
    (one) => workspaceOf(one)?.startsWith('apps/') && one.name.split('/').length > 2,
  );
  expect(shown(wrong)).toEqual([]);
});

test('no package imports an app, and none but apps import steps', () => {
  const wrong = of(packages).filter((one) => {
    const other = workspaceOf(one);
    return other?.startsWith('apps/') || (other === 'packages/steps' && !one.file.startsWith('packages/steps/'));
  });
  expect(shown(wrong)).toEqual([]);
});

test('pure packages import pure packages only, and nothing that does I/O', () => {
  const wrong = of(pure).filter((one) => {
    const other = workspaceOf(one);
    if (other) return !pure.includes(other);
    return one.name.startsWith('node:') && !pureModules.includes(one.name);
  });
  expect(shown(wrong)).toEqual([]);
});

test('pure packages read no clock, environment or random source', () => {
  const wrong = pure.flatMap((workspace) =>
    readdirSync(join(root, workspace, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .filter((file) =>
        /\bprocess\.|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bfetch\(/.test(
          readFileSync(join(root, workspace, 'src', file), 'utf8'),
        ),
      )
      .map((file) => `${workspace}/src/${file}`),
  );
  expect(wrong).toEqual([]);
});

test('store and queue know nothing of each other', () => {
  expect(shown(of(['packages/store']).filter((one) => workspaceOf(one) === 'packages/queue'))).toEqual([]);
  expect(shown(of(['packages/queue']).filter((one) => workspaceOf(one) === 'packages/store'))).toEqual([]);
});

test('no workspace reaches into the folder of another', () => {
  const wrong = [...all].flatMap(([workspace, imports]) =>
    imports.filter(({ file, name }) => {
      if (!name.startsWith('.')) return false;
      return relative(join(root, workspace), resolve(root, dirname(file), name)).startsWith('..');
    }),
  );
  expect(shown(wrong)).toEqual([]);
});

test('packages depend on each other without circles', () => {
  const below = new Map(
    packages.map((one) => [
      one,
      new Set(
        of([one])
          .flatMap((i) => workspaceOf(i) ?? [])
          .filter((o) => o !== one),
      ),
    ]),
  );
  const circles: string[] = [];
  const walk = (at: string, path: string[]) => {
    if (path.includes(at)) circles.push([...path.slice(path.indexOf(at)), at].join(' → '));
    else for (const next of below.get(at) ?? []) walk(next, [...path, at]);
  };
  for (const one of packages) walk(one, []);
  expect([...new Set(circles)]).toEqual([]);
});
