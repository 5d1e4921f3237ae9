import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseWith } from './vectors.ts';

// Forms that other versions, options and locales print, written by hand; the expected numbers are worked out beside them.
const cacheDir = mkdtempSync(join(tmpdir(), 'kdelta-other-versions-'));
afterAll(() => rmSync(cacheDir, { recursive: true }));

async function parsed(program: string, lines: string[]) {
  return { ...(await parseWith(program, `${lines.join('\n')}\n`, cacheDir)) };
}

describe('netperf', () => {
  const stream = (unit: string) => [
    'netperf -t TCP_STREAM -l 10',
    'MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 AF_INET',
    'bytes  bytes   bytes    secs.    10^6bits/sec  '.replace('10^6bits', unit),
    '131072  16384  16384    10.00    12.50   ',
  ];
  it.each([
    ['10^3bits', 0.0125],
    ['10^6bits', 12.5],
    ['10^9bits', 12_500],
    ['KBytes  ', 0.1024], // 12.5 × 1024 × 8 / 10^6
    ['MBytes  ', 104.8576],
  ])('with its throughput in %s/sec gives Mbit/s', async (unit, expected) => {
    expect((await parsed('netperf', stream(unit))).Throughput_Mbps![0]).toBeCloseTo(expected, 9);
  });

  it('with CPU use behind the rate (-c -C) takes the rate', async () => {
    const rr = [
      'netperf -t TCP_RR -l 2 -c -C',
      'MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0',
      '16384 131072 1 1 2.00 5000.25 40.10 -1.00 80.2 -1.000',
    ];
    expect(await parsed('netperf', rr)).toMatchObject({ Throughput_tps: [5000.25], workload: [10_000.5] });
  });

  // Two rows a client, as `-c -C` prints them: sent (8 columns), received (6).
  const udp = [
    'netperf -t UDP_STREAM -l 10 -c -C',
    'MIGRATED UDP UNIDIRECTIONAL SEND TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 AF_INET',
    'Socket  Message  Elapsed      Messages                   CPU      Service',
    'bytes   bytes    secs            #      #   10^6bits/sec % SS     us/KB',
    '212992   65507   10.00      200000      0    10481.1     12.50    1.250 ',
    '212992           10.00      150000            7860.8     12.50    1.250 ',
  ];
  it('of datagrams with CPU use tells sent from received', async () => {
    expect(await parsed('netperf', udp)).toMatchObject({
      Throughput_Mbps: [10481.1],
      ThroughputRecv_Mbps: [7860.8],
      workload: [200_000],
    });
  });

  it('of datagrams cut before what was received has no number', async () => {
    expect(await parsed('netperf', udp.slice(0, -1))).toEqual({});
  });

  it('in a locale with a decimal comma has no number', async () => {
    const comma = stream('10^6bits').map((line) => line.replaceAll(/(\d)\.(\d)/g, '$1,$2'));
    expect(await parsed('netperf', comma)).toEqual({});
  });
});

describe('iperf3', () => {
  const start = '{"event":"start","data":{"test_start":{"protocol":"TCP","num_streams":1}}}';
  const interval = '{"event":"interval","data":{"sum":{"bits_per_second":7}}}';
  const end = '{"event":"end","data":{"sum_sent":{"bits_per_second":2000},"sum_received":{"bits_per_second":1500}}}';

  it('as a stream of events gives the rates of its end', async () => {
    const rates = { 'tcp.sender.bps': [2000], 'tcp.receiver.bps': [1500] };
    expect(await parsed('iperf', [start, interval, end])).toEqual(rates);
  });

  it('as a stream that broke off or failed gives nothing', async () => {
    expect(await parsed('iperf', [start, interval])).toEqual({});
    expect(await parsed('iperf', [start, interval, '{"event":"error","data":"interrupt"}', end])).toEqual({});
    expect(await parsed('iperf', [end])).toEqual({});
  });

  it('of two clients of which one failed or was cut gives no sum', async () => {
    const one = '{"start":{"test_start":{"protocol":"TCP"}},"end":{"sum_sent":{"bits_per_second":2000}}}';
    expect(await parsed('iperf', [one, one])).toEqual({ 'tcp.sender.bps': [4000] });
    expect(await parsed('iperf', [one, '{"start":{},"error":"unable to connect"}'])).toEqual({});
    expect(await parsed('iperf', [one, '{"start":{"test_start":{"protocol":"TCP"}},'])).toEqual({});
    expect(await parsed('iperf', [start, end, start, interval])).toEqual({});
  });
});

describe('stress-ng', () => {
  const rates = { 'pipe.pass': [1], 'pipe.ops': [1200], 'pipe.ops_per_sec': [240.5] };
  const head = 'pipe               1200      4.99      1.20      3.70       240.50         244.90';
  it.each([
    ['without CPU use', `stress-ng: info:  [101] ${head}`],
    ['with CPU use', `stress-ng: info:  [101] ${head}        98.20`],
    ['with CPU use and memory', `stress-ng: metrc: [101] ${head}        98.20          1840`],
    ['with the time of day', `stress-ng: 10:20:30.45 metrc: [101] ${head}`],
  ])('%s gives the same rates', async (_, line) => {
    expect(await parsed('stress-ng', [line])).toEqual(rates);
  });

  it('that fails with the time of day before it is a failure', async () => {
    expect(await parsed('stress-ng', ['stress-ng: 10:20:30.45 fail:  [101] pipe: read failed'])).toEqual({
      'pipe.fail': [1],
    });
  });
});

describe('turbostat', () => {
  it('of Linux before 4.10, with blanks between its columns, gives the row of the whole machine', async () => {
    const table = [
      '    Core     CPU Avg_MHz   %Busy Bzy_MHz TSC_MHz',
      '       -       -      51    1.68    3030    2594',
      '       0       0      63    2.05    3080    2594',
      '       1       1      39    1.31    2980    2594',
    ];
    expect(await parsed('turbostat', table)).toEqual({
      Avg_MHz: [51],
      '%Busy': [1.68],
      Bzy_MHz: [3030],
      TSC_MHz: [2594],
    });
  });
});

describe('fio', () => {
  const job = (read: object) => ({ jobname: 'j', read, write: { bw: 0, iops: 0, total_ios: 0 } });
  const document = (jobs: object[]) => JSON.stringify({ 'fio version': 'fio-2.2.10', jobs });

  it('2 has latencies in µs, several jobs are summed, warnings before the document are skipped', async () => {
    const clat = (mean: number) => ({ mean, stddev: 2, percentile: { '99.000000': mean * 2 } });
    const read = { bw: 1024, iops: 100.5, total_ios: 10, clat: clat(30), slat: { mean: 1, stddev: 0 } };
    const lines = [
      'fio: this platform does not support process shared mutexes',
      document([job(read), job({ ...read, clat: clat(50) })]),
    ];
    expect(await parsed('fio', lines)).toMatchObject({
      read_bw_MBps: [2],
      read_iops: [201],
      read_clat_mean_us: [40],
      'read_clat_99%_us': [80],
      workload: [20],
    });
  });

  it('run twice gives two samples', async () => {
    const lines = [
      document([job({ bw: 1024, iops: 1, total_ios: 1 })]),
      document([job({ bw: 2048, iops: 2, total_ios: 1 })]),
    ];
    expect(await parsed('fio', lines)).toMatchObject({ read_iops: [1, 2], read_bw_MBps: [1, 2] });
  });
});

describe('perf stat', () => {
  it('skips events that were not counted, and gives rates per second of whole intervals', async () => {
    const lines = [
      '1.000000000,2000,,instructions,1000,100.00,,',
      '1.000000000,<not counted>,,cycles,0,0.00,,',
      '2.000000000,4000,,instructions,1000,100.00,,',
      '3.000000000,9,,instructions,1000,100.00,,',
    ];
    // The third interval isn't known to be whole; its stamp is what the sum is divided by.
    expect(await parsed('perf-stat', lines)).toMatchObject({
      time: [1, 2],
      'i.instructions': [2000, 4000],
      'ps.instructions': [2000],
      'total.instructions': [6000],
    });
  });

  it('in a locale with a decimal comma has no number', async () => {
    expect(
      await parsed('perf-stat', [
        '1,000123,2000,,instructions,1000,100,00,,',
        '2,000123,2000,,instructions,1000,100,00,,',
      ]),
    ).toEqual({});
  });
});

describe('hackbench', () => {
  it('with a comma in its times has no number', async () => {
    const lines = [
      'Running in process mode with 2 groups using 40 file descriptors each (== 80 tasks)',
      'Each sender will pass 500 messages of 100 bytes',
      'Time: 0,250',
    ];
    expect(await parsed('hackbench', lines)).toEqual({});
    expect(await parsed('hackbench', [...lines.slice(0, 2), 'Time: 0.250'])).toMatchObject({ throughput: [2_000_000] });
  });
});

describe('hackbench cut within the end of a line', () => {
  it('has no mean, though the time before it is whole', async () => {
    const run = 'Running in process mode with 1 groups\nEach sender will pass 500 messages of 100 bytes\nTime: 0.250';
    expect({ ...(await parseWith('hackbench', `${run}\n${run}`, cacheDir)) }).toEqual({});
    expect({ ...(await parseWith('hackbench', `${run}\n${run}\n`, cacheDir)) }).toMatchObject({
      throughput_avg: [2_000_000],
    });
  });
});

describe('mpstat', () => {
  it('with localised numbers loses those items, with the time of day in words its time only', async () => {
    const item = (stamp: string, usr: string) =>
      `{"timestamp": "${stamp}", "cpu-load": [{"cpu": "all", "usr": ${usr}, "iowait": 0.00, "idle": 90.00}]}`;
    const lines = (text: string) => [
      '{"sysstat": {"hosts": [{',
      '"date": "2026-12-01",',
      '"statistics": [',
      '{',
      text.slice(1, -1),
      '}',
      ']}]}}',
    ];
    expect(await parsed('mpstat', lines(item('10:00:00', '10,00')))).toEqual({});
    const words = await parsed('mpstat', lines(item('10:00:00 AM', '10.00')));
    expect(words['cpu.all.usr%']).toEqual([10]);
    expect(words.time).toBeUndefined();
  });
});
