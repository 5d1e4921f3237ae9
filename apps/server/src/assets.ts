import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { homeDir } from '@kdelta/home';
import type { FastifyInstance } from 'fastify';

export interface Asset {
  /** Address with the content hash: may be cached for ever. */
  url: string;
  type: string;
  body: Buffer;
  br: Buffer;
  gzip: Buffer;
}
export interface Assets {
  /** By plain name: `style.css`, `main.js`, `history.js`. */
  url(name: string): string;
  byFile: Map<string, Asset>;
}

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * The browser part, from dist/web as bundled; from the sources, when there is no bundle (tests). Held in memory,
 * compressed once: a bundle made anew under a running server takes nothing away from it.
 */
export async function loadAssets(dir = join(homeDir(), 'dist', 'web')): Promise<Assets> {
  if (existsSync(dir)) return readAssets(dir);
  const made = await mkdtemp(join(tmpdir(), 'kdelta-web-'));
  try {
    const { bundleWeb } = await import(/* @vite-ignore */ join(homeDir(), 'apps', 'web', 'bundle.mjs'));
    await bundleWeb(made);
    return await readAssets(made);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function readAssets(dir: string): Promise<Assets> {
  const byFile = new Map<string, Asset>();
  const byName = new Map<string, string>();
  for (const file of await readdir(dir)) {
    const ending = file.split('.').at(-1)!;
    const type = TYPES[ending];
    if (!type) continue;
    const body = await readFile(join(dir, file));
    byFile.set(file, { url: `/assets/${file}`, type, body, br: brotliCompressSync(body), gzip: gzipSync(body) });
    byName.set(file.replace(/-[A-Z0-9]{8}(?=\.\w+$)/, ''), `/assets/${file}`);
  }
  return { url: (name) => byName.get(name) ?? `/assets/${name}`, byFile };
}

export function serveAssets(app: FastifyInstance, assets: Assets): void {
  // Browsers ask for it beside files that name no icon.
  app.get('/favicon.ico', { schema: { hide: true } }, (_request, reply) => reply.redirect(assets.url('icon.svg'), 302));
  app.get<{ Params: { file: string } }>('/assets/:file', { schema: { hide: true } }, (request, reply) => {
    const asset = assets.byFile.get(request.params.file);
    if (!asset) return reply.callNotFound();
    const accepts = request.headers['accept-encoding'] ?? '';
    const coding = /\bbr\b/.test(accepts) ? 'br' : /\bgzip\b/.test(accepts) ? 'gzip' : null;
    reply
      .type(asset.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'accept-encoding');
    if (coding) reply.header('content-encoding', coding);
    return reply.send(coding ? asset[coding] : asset.body);
  });
}
