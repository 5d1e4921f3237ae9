import { listArtifacts, loadBoot, loadMatrix } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';
import { bootSeries } from '../../series.ts';

/** One boot with its files and samples, of `metric` those inside the boot; throws 404 KD_NOT_FOUND. */
export async function bootPage(ctx: ServerContext, id: number, metric?: string) {
  const boot = await loadBoot(ctx.db, id);
  if (!boot) throw notFound('boot', id);
  const [files, matrix] = await Promise.all([listArtifacts(ctx.db, { bootId: id }), loadMatrix(ctx.store.db, [id])]);
  const consoleFile = files.findLast((file) => /console/.test(file.name));
  const samples = [...matrix.metrics].map(([metric, values]) => ({ metric, value: values[0] ?? null }));
  const series = metric === undefined ? null : await bootSeries(ctx, id, metric);
  return { boot, files, samples, series, console: consoleFile ? await tailOf(ctx, consoleFile) : null };
}
/** The end of a log, small enough for a page; null when the store has lost it. */
export async function tailOf(
  ctx: ServerContext,
  file: { sha256: string },
  keep = 40_000,
): Promise<{ text: string; cut: boolean } | null> {
  if (!(await ctx.artifacts.has(file.sha256))) return null;
  const all = await ctx.artifacts.get(file.sha256);
  // Broken UTF-8 becomes U+FFFD here; the file itself is served as it is.
  return { text: all.subarray(-keep).toString('utf8'), cut: all.length > keep };
}
export type BootPage = Awaited<ReturnType<typeof bootPage>>;
