// Bundles what runs in the browser into `outdir`, named by content: style-3F2A….css, main-….js, history-….js, icon-….svg.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const src = join(dirname(fileURLToPath(import.meta.url)), 'src');

export async function bundleWeb(outdir) {
  await build({
    entryPoints: ['style.css', 'main.ts', 'history.ts', 'icon.svg'].map((file) => join(src, file)),
    outdir,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome109', 'firefox115', 'safari16'],
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
  });
}
