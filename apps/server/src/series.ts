import { gunzipSync } from 'node:zlib';
import { parseOutput } from '@kdelta/programs';
import { listArtifacts } from '@kdelta/store';
import type { ServerContext } from './context.ts';

/** What a metric was inside one boot: at least two samples in their order. */
export interface Series {
  boot: number;
  /** Seconds since the first sample; null when the program has no clock of its own. */
  seconds: number[] | null;
  /** Of a counter, what each sample added to the one before it. */
  values: number[];
}

/** Bytes of a raw file that is parsed for a page; reading more would hold up other pages. */
const PARSED_LIMIT = 4 << 20;

/**
 * The samples behind a metric's number of one boot, parsed again from the raw file that is kept: a boot's row has their mean
 * only. Null where there is nothing to see: one sample, no file, a file too large or unreadable.
 */
export async function bootSeries(ctx: ServerContext, boot: number, metric: string): Promise<Series | null> {
  const program = [...ctx.programs.keys()].find((name) => metric.startsWith(`${name}.`));
  if (program === undefined) return null;
  const files = await listArtifacts(ctx.db, { bootId: boot });
  const file = files.find(({ name }) => name === program || name === `${program}.gz`);
  if (!file || file.bytes > PARSED_LIMIT || !(await ctx.artifacts.has(file.sha256))) return null;
  try {
    const kept = await ctx.artifacts.get(file.sha256);
    const raw = file.name.endsWith('.gz') ? gunzipSync(kept, { maxOutputLength: PARSED_LIMIT }) : kept;
    const { samples } = await parseOutput(ctx.programs.get(program)!, raw, { cacheDir: ctx.dirs.cache });
    const all = samples[metric] ?? [];
    const clock = samples[`${program}.time`];
    const timed = clock?.length === all.length && clock.every(Number.isFinite);
    const seconds = timed ? clock.map((at) => at - clock[0]!) : null;
    if (!ctx.metrics.lookup(metric).counter) return all.length < 2 ? null : { boot, seconds, values: all };
    const added = all.slice(1).map((value, i) => value - all[i]!);
    return added.length < 2 ? null : { boot, seconds: seconds?.slice(1) ?? null, values: added };
  } catch (error) {
    ctx.log.warn({ boot, file: file.name, err: error }, 'a raw file could not be read for its samples');
    return null;
  }
}
