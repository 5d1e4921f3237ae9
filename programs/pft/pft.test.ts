import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-pft-'));
const pft = join(dir, 'pft');
const run = (...args: string[]) => execFileSync(pft, args, { encoding: 'utf8' });

/** What a printf format of `%Nld` and `%N.Pf` can print: numbers right-aligned in their width, wider ones as they are. */
function printed(format: string): RegExp {
  const pattern = format.replace(/%(\d+)(?:ld|\.(\d)f)/g, (_, width: string, digits?: string) => {
    const decimals = digits ? `\\.\\d{${digits}}` : '';
    // Digits before the point that fill the width.
    const most = Number(width) - (digits ? Number(digits) + 1 : 0);
    const padded = Array.from({ length: most - 1 }, (_, i) => ` {${most - 1 - i}}\\d{${i + 1}}${decimals}`);
    return `(${[...padded, `\\d{${most},}${decimals}`].join('|')})`;
  });
  return new RegExp(`^${pattern}$`);
}

// The original's.
const line = printed(' %3ld %4ld %3ld %8.2fs %8.2fs %8.2fs  %10.3f %10.3f\n');

beforeAll(() => {
  const args = ['-O2', '-Wall', '-Werror', '-static', '-pthread', join(import.meta.dirname, 'pft.c'), '-o', pft];
  execFileSync('cc', args);
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Bucket counts of each histogram in an output. */
function histograms(output: string): number[][] {
  const found: number[][] = [];
  for (const text of output.split('\n')) {
    if (text === '# pgfault latency histogram (ns):') found.push([]);
    const count = /^# < (?:\d+|inf) +(\d+)$/.exec(text)?.[1];
    if (count) found.at(-1)!.push(Number(count));
  }
  return found;
}

describe('pft', () => {
  it.each([['-t'], ['-n']])('prints the original’s line and no other for one worker (%s)', (workers) => {
    const match = line.exec(run('-m', '8M', workers, '1'));
    expect(match).not.toBeNull();
    expect(match!.slice(1, 4).map(Number)).toEqual([0, 1, 1]);
  });

  it('is read by that parser as a printf of the same format is, value for value', () => {
    const format = ' %3ld %4ld %3ld %8.2fs %8.2fs %8.2fs  %10.3f %10.3f\\n';
    // The seed's first line, and one with values wider than their columns.
    for (const values of [
      ['1', '1', '1', '0.07', '0.59', '0.65', '622936.989', '620037.781'],
      ['1024', '12800', '6400', '123456.78', '1.00', '2.00', '10282567.231', '12345678.123'],
    ]) {
      const text = execFileSync('printf', [format.replaceAll('ld', 'd'), ...values], { encoding: 'utf8' });
      expect(
        line
          .exec(text)
          ?.slice(1)
          .map((word) => word.trim()),
        text,
      ).toEqual(values);
    }
    // Left-aligned, in a narrower column or with other decimals it is another format.
    expect(' 1   1      1       0.07s     0.59s     0.65s  622936.989 620037.781\n').not.toMatch(line);
    expect('   1    1   1  0.07s     0.59s     0.65s  622936.989 620037.781\n').not.toMatch(line);
    expect('   1    1   1     0.07s     0.59s     0.65s  622936.98 620037.781\n').not.toMatch(line);
  });

  it('with -T prints the tag and the header of the original before it', () => {
    const [tag, header, row] = run('-m', '1M', '-T', 'a').split(/(?<=\n)/);
    expect(tag).toBe('TAG pft:anon-sys-default:a\n');
    expect(header).toBe('  Gb  Thr CLine   User     System     Wall    flt/cpu/s fault/wsec\n');
    expect(row).toMatch(line);
  });

  it('names shared memory, policy and locking in the tag', () => {
    expect(run('-m', '1M', '-S', '-T')).toMatch(/^TAG pft:shmem-sys-default\n/);
    expect(run('-m', '1M', '-p', '-l', '-T', 'x')).toMatch(/^TAG pft:anon-vma-policy-mlocked:x\n/);
  });

  it('faults each page once, as the kernel counts', () => {
    const counted = /^# minor faults (\d+), pages (\d+), huge pages off$/m.exec(run('-v', '-m', '64M'))!;
    const [faults, pages] = counted.slice(1).map(Number) as [number, number];
    expect(pages).toBe(16384);
    expect(Math.abs(faults - pages) / pages).toBeLessThan(0.005);
  });

  it.each([['-t'], ['-n']])(
    'reports the faults that the kernel counts in /proc within 0.5 %% (%s)',
    async (workers) => {
      // It pauses before it ends; its line says how many pages its rates are of.
      const child = spawn(pft, ['-m', '128M', workers, '1', '-P'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [text] = (await once(child.stdout, 'data')) as [Buffer];
      // The 10th and 11th field, after a name in brackets: minor faults of its own and of children that it waited for.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      child.kill('SIGKILL');
      const counted = Number(fields[7]) + Number(fields[8]);
      const [, , , , user, system, , perCpu] = line.exec(text.toString())!.map(Number) as number[];
      expect(Math.abs(counted / 32768 - 1)).toBeLessThan(0.005);
      // Rate times CPU time is the number of pages, to the hundredths of a second that are printed.
      const seconds = user! + system!;
      expect(perCpu! * (seconds + 0.011)).toBeGreaterThan(32768);
      expect(perCpu! * (seconds - 0.011)).toBeLessThan(32768);
    },
  );

  it('counts each touch in one bucket of the histogram', () => {
    const [counts] = histograms(run('-m', '16M', '-t', '1', '--hist'));
    expect(counts).toHaveLength(8);
    expect(counts!.reduce((sum, count) => sum + count, 0)).toBe(4096);
    expect(histograms(run('-m', '1M', '--hist=1000,2000'))[0]).toHaveLength(3);
  });

  it('prints the histogram at SIGUSR1 and clears it at SIGUSR2 while it runs', async () => {
    const child = spawn(pft, ['-m', '256M', '-s', '2', '-P', '--hist'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const printed = async (times: number) => {
      while (output.split('< inf').length <= times) await once(child.stdout, 'data');
    };
    // Before the workers start nothing is counted.
    await setTimeout(500);
    child.kill('SIGUSR1');
    await printed(1);
    child.kill('SIGUSR2');
    await printed(2);
    child.kill('SIGKILL');
    const [before, after] = histograms(output);
    expect(before!.every((count) => count === 0)).toBe(true);
    expect(after!.reduce((sum, count) => sum + count, 0)).toBe(65536);
  });

  it.each([
    [['--hist=5,5'], 'bounds must ascend'],
    [[`--hist=${Array.from({ length: 33 }, (_, i) => i + 1).join(',')}`], 'at most 32 bounds'],
    [['-m', '12Q'], 'isn’t a size'.replace('’', "'")],
    [['-m', '0'], "isn't a size"],
    [['-t', '0'], "isn't a number"],
    [['-L'], 'give -S too'],
    [['a', 'b'], 'more than one tag'],
  ])('refuses %j before it runs', async (args, message) => {
    const failure = await promisify(execFile)(pft, args).catch((error) => error);
    expect(failure.code).toBe(1);
    expect(failure.stderr).toContain(message);
    expect(failure.stdout).toBe('');
  });

  it('runs as its script calls it, without being root', () => {
    const reproduce = join(dir, 'reproduce');
    writeFileSync(reproduce, '');
    chmodSync(dir, 0o755);
    chmodSync(reproduce, 0o666);
    const script = readFileSync(join(import.meta.dirname, 'run'), 'utf8');
    const env = { ...process.env, KD_PROGRAM_DIR: dir, KD_REPRODUCE: reproduce };
    const params = {
      size: '1048576',
      nr_threads: '1',
      iterations: '2',
      mode: 'threads',
      clients: '1',
      cachelines: '1',
    };
    const { status, stdout } = spawnSync('dash', [], {
      input: script,
      encoding: 'utf8',
      env: { ...env, ...params, thp: 'off', hist: '' },
      ...(process.getuid?.() === 0 && { uid: 65534, gid: 65534 }),
    });
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((row) => line.test(`${row}\n`))).toHaveLength(2);
  });

  it('starts no more workers than there are CPUs, and says so', async () => {
    const { stdout, stderr } = await promisify(execFile)(pft, ['-m', '2M', '-t', '1000']);
    expect(stdout).toMatch(line);
    expect(stderr).toMatch(/1000 workers asked for/);
  });
});
