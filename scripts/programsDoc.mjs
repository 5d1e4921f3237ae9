// Runs scripts/programsDoc.ts --write: Node 20 doesn't read TypeScript.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

const bundled = new URL('../dist/programsDoc.mjs', import.meta.url).pathname;
await build({
  entryPoints: [new URL('programsDoc.ts', import.meta.url).pathname],
  outfile: bundled,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
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
const { writeProgramsDoc } = await import(bundled);
await writeProgramsDoc();
await rm(bundled);
