import { ALIASES, PATTERN_RULES } from './patterns.ts';
import type { MetricInfo, MetricName } from './types.ts';

/** Matches wherever one of the rules may: most names match none, and one test is cheaper than one per rule. */
const ANY_RULE = new RegExp(PATTERN_RULES.map(({ match }) => `(?:${match.source})`).join('|'), 'i');

/** What a registry needs of a program's meta.yaml: metric name without the prefix (exact, or `/regex/`) → facts. */
export interface ProgramMetrics {
  name: string;
  metrics: Record<string, Partial<MetricInfo>>;
}

export interface Registry {
  /** All that is known of a metric; unknown names get kind `count`, no direction, no KPI. */
  lookup(name: MetricName): MetricInfo;
  /** The name under which a renamed metric is known now: `dbench.throughput-MB/sec` → `dbench.throughput_MB/s`. */
  canonical(name: MetricName): MetricName;
}

/**
 * A registry from the programs' meta.yaml, then the pattern rules for names that come from elsewhere (LKP's programs
 * and monitors). An exact name beats a regex, a program beats a pattern. The first match of several counts.
 */
export function buildRegistry(programs: Iterable<ProgramMetrics> = []): Registry {
  const exact = new Map<MetricName, Partial<MetricInfo>>();
  const patterns = new Map<string, { regex: RegExp; info: Partial<MetricInfo> }[]>();
  for (const program of programs) {
    for (const [name, info] of Object.entries(program.metrics)) {
      if (name.length > 2 && name.startsWith('/') && name.endsWith('/')) {
        const list = patterns.get(program.name) ?? [];
        list.push({ regex: new RegExp(name.slice(1, -1)), info });
        patterns.set(program.name, list);
      } else {
        exact.set(`${program.name}.${name}`, info);
      }
    }
  }
  const known = new Map<MetricName, MetricInfo>();

  function find(name: MetricName): Partial<MetricInfo> | undefined {
    const direct = exact.get(name);
    if (direct) return direct;
    if (patterns.size === 0) return undefined;
    const dot = name.indexOf('.');
    const rest = name.slice(dot + 1);
    return patterns.get(name.slice(0, dot))?.find(({ regex }) => regex.test(rest))?.info;
  }

  const canonical = (name: MetricName): MetricName => ALIASES.get(name) ?? name;

  return {
    canonical,
    lookup(name) {
      const cached = known.get(name);
      if (cached) return cached;
      const info: MetricInfo = { kpi: false, kind: 'count' };
      if (ANY_RULE.test(name)) {
        for (const rule of PATTERN_RULES) {
          if (rule.match.test(name)) Object.assign(info, rule.info);
        }
      }
      const now = canonical(name);
      Object.assign(info, find(name) ?? (now === name ? undefined : find(now)));
      // A percentage by its name, as LKP's table has it.
      info.percent ??= name.endsWith('%') || name.startsWith('perf-profile');
      known.set(name, info);
      return info;
    },
  };
}
