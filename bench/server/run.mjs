// Bundles the benchmark (workspaces and JSX inlined, npm packages stay imports) and runs it.
import { spawn } from 'node:child_process';
import { build } from 'esbuild';

const [source, outfile] = ['bench/server.ts', 'node_modules/.cache/bench-server.mjs'];
await build({
  entryPoints: [source],
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
