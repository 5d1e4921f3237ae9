// Bundles the command and the demo into dist/: workspaces are inlined, npm packages stay imports, subcommands load on demand.
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, symlink } from 'node:fs/promises';
import { build } from 'esbuild';
import { bundleWeb } from '../apps/web/bundle.mjs';
import { workspaceOnly } from './workspaceOnly.mjs';

await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: {
    kdelta: 'apps/cli/src/index.ts',
    ...(existsSync('test/demo/main.ts') && { demo: 'test/demo/main.ts' }),
  },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  banner: { js: '#!/usr/bin/env node' },
  // Loading jstat as a package costs a comparison more than its judgement: Node reads all of it twice.
  plugins: [workspaceOnly(['jstat'])],
  logLevel: 'warning',
});
await chmod('dist/kdelta.mjs', 0o755);
await bundleWeb('dist/web');
// npm links the commands of dependencies only; the checkout's own is wanted there as well.
await mkdir('node_modules/.bin', { recursive: true });
await rm('node_modules/.bin/kdelta', { force: true });
await symlink('../../dist/kdelta.mjs', 'node_modules/.bin/kdelta');
