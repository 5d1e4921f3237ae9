import {
  GRAPH_NAMES,
  type GraphName,
  inPage,
  type MapanonRun,
  mapanonGraphs,
  readMapanonFiles,
  sharedScale,
} from '@kdelta/report';
import { type BootDetail, type BootRow, listArtifacts, listBoots, loadBoot, loadMatrix } from '@kdelta/store';
import { z } from 'zod';
import type { ServerContext } from '../../context.ts';
import { badRequest, notFound } from '../../problems.ts';

export const MapanonQuery = z.object({
  /** One to four boots: `12,34`. */
  boots: z.string().regex(/^[1-9]\d{0,8}(,[1-9]\d{0,8}){0,3}$/),
  instance: z.coerce.number().int().min(1).max(1000).default(1),
});
export type MapanonQuery = z.infer<typeof MapanonQuery>;

export interface MapanonColumn {
  boot: BootDetail;
  /** Metric without `mapanon.` → the boot's number. */
  figures: Map<string, number>;
  /** Numbers of the instances whose files are kept. */
  instances: number[];
  /** SHA-256 of the reference file, as the run printed it. */
  references: string | null;
  graphs: Partial<Record<GraphName, string>>;
  /** Why there are no graphs. */
  why: string | null;
}

/** Bytes of data files of one boot, and of one monitor, that are drawn for a page; reading more would hold up other pages for seconds. */
const DRAWN_LIMIT = 16 << 20;

/**
 * Boots of mapanon side by side, their graphs on one scale; throws 404 KD_NOT_FOUND for a boot there isn't, 400
 * KD_NOT_MAPANON for one of another program.
 */
export async function mapanonPage(ctx: ServerContext, query: MapanonQuery) {
  const ids = [...new Set(query.boots.split(',').map(Number))];
  const read = await Promise.all(ids.map((id) => readColumn(ctx, id, query.instance)));
  const scale = sharedScale(read.flatMap(({ run }) => (run ? [run] : [])));
  const columns: MapanonColumn[] = read.map(({ run, ...rest }) => ({
    ...rest,
    graphs: run
      ? Object.fromEntries(Object.entries(mapanonGraphs(run, scale)).map(([name, svg]) => [name, inPage(svg)]))
      : {},
  }));
  const graphs = GRAPH_NAMES.filter((name) => columns.some((column) => column.graphs[name]));
  const newest = await listBoots(ctx.db, { testcase: columns[0]!.boot.testcase_id, state: 'done', limit: 40 });
  return { ids, columns, graphs, others: newest.filter((boot) => !ids.includes(boot.id)), query };
}
export type MapanonPage = Awaited<ReturnType<typeof mapanonPage>>;
export type OtherBoot = BootRow;

async function readColumn(ctx: ServerContext, id: number, instance: number) {
  const boot = await loadBoot(ctx.db, id);
  if (!boot) throw notFound('boot', id);
  if (boot.program !== 'mapanon') throw badRequest('KD_NOT_MAPANON', `Boot ${id} ran ${boot.program}, not mapanon.`);
  const [files, matrix] = await Promise.all([listArtifacts(ctx.db, { bootId: id }), loadMatrix(ctx.store.db, [id])]);
  const figures = new Map<string, number>();
  for (const [metric, [value]] of matrix.metrics)
    if (metric.startsWith('mapanon.') && typeof value === 'number') figures.set(metric.slice('mapanon.'.length), value);
  const instances = files
    .map((file) => Number(/^mapanon-data\/(\d+)\/mapanon-pagemap\.data$/.exec(file.name)?.[1]))
    .filter((n) => n > 0)
    .sort((a, b) => a - b);
  const fileOf = (name: string) => files.findLast((file) => file.name === name);
  const text = async (name: string) => {
    const file = fileOf(name);
    return file && file.bytes <= DRAWN_LIMIT && (await ctx.artifacts.has(file.sha256))
      ? (await ctx.artifacts.get(file.sha256)).toString('utf8')
      : null;
  };
  const references = /^# references: ([0-9a-f]{64})/m.exec((await text('mapanon')) ?? '')?.[1] ?? null;
  const column = { boot, figures, instances, references, why: null as string | null, run: null as MapanonRun | null };

  const kinds = ['time', 'pagemap', 'refcount', 'age', 'pagereferences'] as const;
  const nameOf = (kind: string) => `mapanon-data/${instance}/mapanon-${kind}.data`;
  const bytes = kinds.reduce((sum, kind) => sum + (fileOf(nameOf(kind))?.bytes ?? 0), 0);
  if (bytes > DRAWN_LIMIT)
    return { ...column, why: `its data are ${Math.round(bytes / 1e6)} MB; draw them with kdelta graph mapanon` };
  const texts = await Promise.all([...kinds.map((kind) => text(nameOf(kind))), text('meminfo'), text('vmstat')]);
  const [time, pagemap, refcount, age, pagereferences, meminfo, vmstat] = texts as (string | null)[];
  if (time == null || pagemap == null || refcount == null || age == null)
    return { ...column, why: `instance ${instance} left no data, or they are no longer kept` };
  try {
    // Short, as it stands over each graph: 6.1.0-57 of 6.1.0-57-cloud-amd64.
    const version = /^\d[\d.]*(-\w+)?/.exec(boot.release ?? '')?.[0];
    const name = `boot ${id}, ${version ?? (boot.sha ?? boot.package ?? '').slice(0, 24)}`;
    const run = readMapanonFiles(name, {
      time,
      pagemap,
      refcount,
      age,
      ...(pagereferences != null && { pagereferences }),
      ...(meminfo != null && { meminfo }),
      ...(vmstat != null && { vmstat }),
    });
    return { ...column, run };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ...column, why: `its data can't be read: ${error.message}` };
  }
}
