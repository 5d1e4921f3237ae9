import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

export interface Asked {
  p50: number;
  p95: number;
  perSecond: number;
  /** Mean size of an answer with its headers, as it was sent, in kB. */
  kB: number;
  /** Answers that weren't 200, and connections that broke. */
  bad: number;
}

/**
 * Asks for the paths, `connections` at a time, `amount` times in all; gzip accepted, as a browser would. Each connection
 * has its own share of the paths. (autocannon's `setRequest` is for one request only: the next is of its list again.)
 */
export async function ask(url: string, paths: string[], connections: number, amount: number): Promise<Asked> {
  const times: number[] = [];
  let bytes = 0;
  let clients = 0;
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip' };
  const started = performance.now();
  // autocannon itself ends at its next full second.
  let ended = started;
  const instance = autocannon({
    url,
    connections,
    amount,
    timeout: 60,
    setupClient(client) {
      const own = paths.length < connections ? paths : paths.filter((_, i) => i % connections === clients);
      clients++;
      client.setRequests(own.map((path) => ({ method: 'GET', path, headers })));
    },
  });
  instance.on('response', (_client, _status, size, ms) => {
    times.push(ms);
    bytes += size;
    ended = performance.now();
  });
  const result = await instance;
  return {
    ...percentiles(times),
    kB: Number((bytes / times.length / 1000).toFixed(1)),
    perSecond: times.length / ((ended - started) / 1000),
    bad: result.non2xx + result.errors,
  };
}

export function percentiles(times: number[]): { p50: number; p95: number; max: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1));
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** CPU time of processes in ms, from /proc (ticks of 10 ms); null where there is none. */
export function cpuOf(pids: number[]): number | null {
  try {
    let ticks = 0;
    for (const pid of pids) {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    }
    return ticks * 10;
  } catch {
    return null;
  }
}
