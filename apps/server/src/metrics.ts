import { countMetrics, countQueue, listStepTimes, type StepTime, stepBounds } from '@kdelta/store';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { App, ServerContext } from './context.ts';
import type { Live } from './live.ts';

/** GET /metrics for Prometheus: rows by state are read when asked, so that every process's work is in them. */
export function metricsRoute(app: App, ctx: ServerContext, live: Live): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const gauges = {
    boots: gauge('kdelta_boots', 'Boots by state and failure class', ['state', 'class']),
    kernels: gauge('kdelta_kernels', 'Kernels by state and failure class', ['state', 'class']),
    pairs: gauge('kdelta_pairs', 'Pairs by state and verdict', ['state', 'class']),
    bisects: gauge('kdelta_bisects', 'Bisects by state', ['state', 'class']),
    reports: gauge('kdelta_reports', 'Reports by state', ['state', 'class']),
    hosts: gauge('kdelta_hosts', 'Hosts by state', ['state', 'class']),
    mails: gauge('kdelta_mails', 'Mails by state', ['state', 'class']),
  };
  const queued = gauge('kdelta_queue_boots', 'Boots that wait');
  const oldest = gauge('kdelta_queue_oldest_seconds', 'Age of the oldest boot that waits');
  const bootSeconds = gauge('kdelta_boot_seconds_median', 'Median duration of the last 50 boots');
  const pages = gauge('kdelta_live_pages', 'Pages that follow events');
  const requests = new Histogram({
    name: 'kdelta_http_seconds',
    help: 'Time to answer a request',
    labelNames: ['route', 'status'],
    buckets: [0.005, 0.01, 0.03, 0.06, 0.15, 0.5, 2.5],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    requests.observe(
      { route: request.routeOptions.url ?? 'none', status: String(reply.statusCode) },
      reply.elapsedTime / 1000,
    );
  });

  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const [counts, queue, times] = await Promise.all([countMetrics(ctx.db), countQueue(ctx.db), listStepTimes(ctx.db)]);
    for (const one of Object.values(gauges)) one.reset();
    for (const row of counts) gauges[row.what].set({ state: row.state, class: row.class ?? '' }, row.n);
    queued.set(queue.boots);
    oldest.set(queue.oldest ? (ctx.now().getTime() - queue.oldest.getTime()) / 1000 : 0);
    bootSeconds.set(queue.boot_seconds ?? 0);
    pages.set(live.listeners());
    return reply.type(registry.contentType).send(`${await registry.metrics()}\n${stepHistogram(times)}`);
  });
}

/** The workers' histogram in Prometheus' text format: prom-client can observe values, not take over counts. */
function stepHistogram(times: StepTime[]): string {
  const name = 'kdelta_step_seconds';
  const lines = [`# HELP ${name} Time of one run of a step, over all workers`, `# TYPE ${name} histogram`];
  for (const { step, failed, runs, seconds, buckets } of times) {
    const labels = `step="${step}",outcome="${failed ? 'error' : 'ok'}"`;
    stepBounds.forEach((bound, i) => {
      lines.push(`${name}_bucket{${labels},le="${bound}"} ${buckets[i] ?? 0}`);
    });
    lines.push(`${name}_bucket{${labels},le="+Inf"} ${runs}`, `${name}_sum{${labels}} ${seconds}`);
    lines.push(`${name}_count{${labels}} ${runs}`);
  }
  return `${lines.join('\n')}\n`;
}
