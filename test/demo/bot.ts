import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';

/** `kdelta up` in a process of its own, known from outside only: by its pages and its mails. */
export interface Bot {
  /** The dashboard's address. */
  url: string;
  /** What it printed so far, last `bytes`. */
  tail(bytes?: number): string;
  /** Its exit, should it end by itself. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

export async function startBot(dir: string, configFile: string, port: number): Promise<Bot> {
  const log = join(dir, 'kdelta.log');
  const out = createWriteStream(log);
  const env: NodeJS.ProcessEnv = { ...process.env, KDELTA_CONFIG: configFile, KDELTA_STATE: join(dir, 'state') };
  // It has a database and a queue of its own, whatever this machine's environment names.
  delete env.DATABASE_URL;
  delete env.REDIS_URL;
  const child: ChildProcess = spawn(process.execPath, [join(homeDir(), 'dist', 'kdelta.mjs'), 'up'], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Of a group of its own, so that Ctrl-C reaches the demo, which then ends the bot in good order.
    detached: true,
  });
  child.stdout!.pipe(out);
  child.stderr!.pipe(out);
  const exit = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? String(code)));
    child.once('error', (error) => resolve(error.message));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    tail(bytes = 3000) {
      try {
        return readFileSync(log, 'utf8').slice(-bytes);
      } catch {
        return '';
      }
    },
    ended: exit,
    async stop() {
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), 30_000);
      await exit;
      clearTimeout(hard);
    },
  };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as { port: number };
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}
