// node scripts/runTs.mjs FILE.ts [ARGS…]: bundles a TypeScript program of this repository (Node 20 doesn't read it) and runs it.
import { spawn } from 'node:child_process';
import { build } from 'esbuild';
import { workspaceOnly } from './workspaceOnly.mjs';

const [source, ...args] = process.argv.slice(2);
const outfile = `node_modules/.cache/${source.replace(/\.ts$/, '').replaceAll('/', '-')}.mjs`;
await build({
  entryPoints: [source],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
  plugins: [workspaceOnly()],
});
spawn(process.execPath, [outfile, ...args], { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1));
