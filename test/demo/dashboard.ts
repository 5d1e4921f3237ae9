import type { z } from 'zod';
import type { Bisect, Boot, Overview, PairDetail, Report } from '../../apps/server/src/api/schemas.ts';

type Answer<T extends z.ZodType> = z.output<T>;
export type OverviewAnswer = Answer<typeof Overview>;
export type BisectAnswer = Answer<typeof Bisect>;
export type PairAnswer = Answer<typeof PairDetail>;

/** What the demo asks the dashboard, as anybody could. */
export interface Dashboard {
  overview(): Promise<OverviewAnswer>;
  /** All of them, the ended too. */
  bisects(): Promise<BisectAnswer[]>;
  pair(id: number): Promise<PairAnswer>;
  boots(filter: string): Promise<Answer<typeof Boot>[]>;
  reports(): Promise<Answer<typeof Report>[]>;
  poke(tree: string): Promise<void>;
  /** Status and text of a page. */
  page(path: string): Promise<{ status: number; text: string }>;
}

export function openDashboard(url: string): Dashboard {
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(url + path, { headers: { accept: 'application/json' } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  return {
    overview: () => get('/api/v1/overview'),
    bisects: async () => (await get<{ items: BisectAnswer[] }>('/api/v1/bisects')).items,
    pair: (id) => get(`/api/v1/pairs/${id}`),
    boots: async (filter) => (await get<{ items: Answer<typeof Boot>[] }>(`/api/v1/boots?limit=200&${filter}`)).items,
    reports: async () => (await get<{ items: Answer<typeof Report>[] }>('/api/v1/reports')).items,
    async poke(tree) {
      await fetch(`${url}/api/v1/trees/${tree}/poke`, { method: 'POST' });
    },
    async page(path) {
      const answer = await fetch(url + path);
      return { status: answer.status, text: await answer.text() };
    },
  };
}
