import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgramMeta } from '@kdelta/jobs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostFiles, mirrorsOf, readMeta } from '../src/index.ts';

/* A real HTTP server stands for upstream and mirrors. */
const dir = mkdtempSync(join(tmpdir(), 'kdelta-sources-'));
const tarball = Buffer.from('a tarball of our own');
const sha256 = createHash('sha256').update(tarball).digest('hex');
let server: Server;
let at: string;
let asked: string[];
let cacheDir: string;
let meta: ProgramMeta;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url === '/upstream/x.tar.gz' || request.url === '/mirror/x.tar.gz') response.end(tarball);
    else if (request.url === '/other/x.tar.gz') response.end('another tarball');
    // Ends in the midst of the file.
    else if (request.url === '/broken/x.tar.gz') {
      response.writeHead(200, { 'content-length': '20' });
      response.write('a tar');
      setTimeout(() => response.destroy(), 20);
    } else response.writeHead(404).end('no such file');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  mkdirSync(join(dir, 'x'));
  writeFileSync(join(dir, 'x/run'), '#!/bin/sh\n');
  writeFileSync(
    join(dir, 'x/meta.yaml'),
    `type: benchmark\nsources:\n  x.tar.gz: { sha256: ${sha256}, urls: ["${at}/gone/x.tar.gz", "${at}/upstream/x.tar.gz"] }\n`,
  );
  meta = (await readMeta(join(dir, 'x')))!;
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true });
});
beforeEach(() => {
  asked = [];
  cacheDir = mkdtempSync(join(dir, 'cache-'));
});

describe('the source of a program', () => {
  const fetched = async (...mirrors: string[]) => {
    const files = await hostFiles(meta, cacheDir, {}, mirrors);
    return readFileSync(files.find((file) => file.name === 'x.tar.gz')!.path);
  };

  it('comes from the mirror, else from upstream, and once', async () => {
    expect(await fetched(`${at}/mirror/`)).toEqual(tarball);
    expect(asked).toEqual(['/mirror/x.tar.gz']);
    expect(await fetched()).toEqual(tarball);
    expect(asked).toHaveLength(1);
  });

  it('is asked for further on when a mirror is down, lacks it or breaks off', async () => {
    // Nothing listens on port 1.
    expect(await fetched('http://127.0.0.1:1', join(dir, 'no-folder'), `${at}/empty`, `${at}/broken`)).toEqual(tarball);
    expect(asked).toEqual(['/empty/x.tar.gz', '/broken/x.tar.gz', '/gone/x.tar.gz', '/upstream/x.tar.gz']);
  });

  it('comes from a folder without any network', async () => {
    mkdirSync(join(dir, 'folder'));
    writeFileSync(join(dir, 'folder/x.tar.gz'), tarball);
    expect(await fetched(...mirrorsOf({ KDELTA_MIRROR: `  ${join(dir, 'folder')} ` }))).toEqual(tarball);
    expect(asked).toEqual([]);
  });

  it('with another checksum is refused, and nothing of it stays', async () => {
    await expect(fetched(`${at}/other`)).rejects.toThrow(
      expect.objectContaining({ code: 'KD_PROGRAM_SOURCE', message: expect.stringContaining(`${at}/other/x.tar.gz`) }),
    );
    expect(readdirSync(join(cacheDir, 'sources', sha256))).toEqual([]);
  });

  it('that nobody has is an error that says where it was looked for', async () => {
    const poor = { ...meta, sources: { 'y.tar.gz': { sha256, urls: [`${at}/y.tar.gz`] } } };
    await expect(hostFiles(poor, cacheDir, {}, [])).rejects.toThrow(`${at}/y.tar.gz: HTTP 404`);
  });

  it('that belongs to a value of a parameter is fetched for that value only', async () => {
    const chosen = { ...meta, sources: { 'x.tar.gz': { ...meta.sources!['x.tar.gz']!, param: 'source' } } };
    expect((await hostFiles(chosen, cacheDir, { source: 'project' }, [])).map((file) => file.name)).toEqual(['run']);
    expect(asked).toEqual([]);
    const files = await hostFiles(chosen, cacheDir, { source: 'x.tar.gz' }, []);
    expect(files.map((file) => file.name)).toEqual(['run', 'x.tar.gz']);
  });
});
