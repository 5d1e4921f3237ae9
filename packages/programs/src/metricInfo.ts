import type { ProgramMeta } from '@kdelta/jobs';
import type { MetricInfo } from '@kdelta/matrix';

/** What meta.yaml says of a metric (name without the program's prefix): exact names first, then the first /regex/ that matches. */
export function metricInfo(meta: ProgramMeta, name: string): MetricInfo {
  const found = meta.metrics[name] ?? matchRegex(meta, name);
  return { kpi: false, kind: 'performance', ...found };
}

function matchRegex(meta: ProgramMeta, name: string): Partial<MetricInfo> | undefined {
  for (const [key, info] of Object.entries(meta.metrics)) {
    if (key.startsWith('/') && new RegExp(key.slice(1, key.lastIndexOf('/'))).test(name)) return info;
  }
  return undefined;
}
