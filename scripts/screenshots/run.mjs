// Bundles scripts/screenshots/main.ts and runs it: `npm run screenshots [-- OUTDIR]`.
import { spawn } from 'node:child_process';
import { build } from 'esbuild';

const outfile = 'node_modules/.cache/screenshots.mjs';
await build({
  entryPoints: ['scripts/screenshots/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
  plugins: [
    {
      name: 'workspace-only',
      setup(b) {
        b.onResolve({ filter: /^[^./]/ }, (args) =>
          args.path.startsWith('@kdelta/') || args.kind === 'entry-point'
            ? undefined
            : { path: args.path, external: true },
        );
      },
    },
  ],
});
spawn(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit' }).on('exit', (code) =>
  process.exit(code ?? 1),
);
