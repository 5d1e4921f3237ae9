import type { MetricInfo, MetricName } from './types.ts';

/** Renamed metrics: the old name → the name that programs print now. */
export const ALIASES: ReadonlyMap<MetricName, MetricName> = new Map([
  ['dbench.throughput-MB/sec', 'dbench.throughput_MB/s'],
  ['tbench.throughput-MB/sec', 'tbench.throughput_MB/s'],
  ['pf.faults_per_sec', 'pft.faults_per_sec'],
  ['pf.faults_per_sec_per_cpu', 'pft.faults_per_sec_per_cpu'],
]);

const higherKpi: Partial<MetricInfo> = { kpi: true, kind: 'performance', better: 'higher' };
const lowerKpi: Partial<MetricInfo> = { kpi: true, kind: 'performance', better: 'lower' };

/**
 * Facts about names that no program here declares. All rules that match are applied in order, the later one wins.
 * A name is a KPI only where a rule (or a program's meta.yaml) says so.
 */
export const PATTERN_RULES: readonly { match: RegExp; info: Partial<MetricInfo> }[] = [
  { match: /(^|[._])(max_|avg_|p\d+_?)?lat(ency)?([._]|$)/i, info: { kind: 'latency', better: 'lower' } },
  { match: /^(boot-time|uptime)\./, info: { kind: 'performance', better: 'lower' } },
  { match: /\.(fail|warn|error)$|^(dmesg|kmsg|last_state|stderr)\./, info: { kind: 'function', better: 'lower' } },
  // Log lines' times and symbols of a profile are no failures, whatever their names contain.
  { match: /^(dmesg|kmsg)\.(timestamp|boot-time)|^perf-profile/, info: { kind: 'count', better: undefined } },
  { match: /^(dbench|tbench)\.throughput[_-]MB\/s(ec)?$/, info: { ...higherKpi, unit: 'MB/s' } },
  { match: /^(pf|pft)\.faults_per_sec(_per_cpu)?$/, info: { ...higherKpi, unit: '1/s' } },
  { match: /^will-it-scale\.(\d+\.)?(per_process_ops|per_thread_ops|workload)$/, info: higherKpi },
  { match: /^will-it-scale\.\d+\.(processes|threads)$/, info: higherKpi },
  { match: /^fio\.(read|write)_(iops|bw_MBps)$/, info: higherKpi },
  { match: /^hackbench\.throughput$/, info: higherKpi },
  { match: /^(netperf|iperf)\..*(Throughput|bits_per_second)/, info: higherKpi },
  { match: /^vm-scalability\.(throughput|median)$/, info: higherKpi },
  { match: /^unixbench\.(score|throughput)$/, info: higherKpi },
  { match: /^(fsmark)\.files_per_sec$/, info: higherKpi },
  { match: /^fxmark\..*\/?works(\/sec)?$/, info: higherKpi },
  { match: /^stress-ng\.[^.]+\.ops(_per_sec)?$/, info: higherKpi },
  { match: /^(aim7|reaim)\.jobs[-_]per[-_]min$/, info: higherKpi },
  { match: /^(sysbench|redis|ycsb)\..*(per_sec|throughput)/, info: higherKpi },
  { match: /^stream\.(add|copy|scale|triad)_bandwidth_MBps$/, info: higherKpi },
  { match: /^(kbuild|kernbench)\.(elapsed_time|buildtime.*|user_time)$/, info: lowerKpi },
  { match: /^perf-bench-.*\.(ops|ops\/s)$/, info: higherKpi },
  { match: /^lmbench3\..*latency/, info: lowerKpi },
  { match: /^meminfo\.(MemTotal|SwapTotal)$|(^|\.)(nr_cpus?|microcode)$/, info: { environment: true } },
  { match: /\.within_boot_stddev$/, info: { kpi: false, kind: 'count', better: undefined } },
];
