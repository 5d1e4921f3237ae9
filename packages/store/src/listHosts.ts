import { type Queryable, rows } from './query.ts';
import type { HostState } from './schema.ts';

export interface HostRow {
  id: number;
  name: string;
  tbox_group: string;
  config: Record<string, unknown>;
  state: HostState;
  epoch: number;
  lease_until: Date | null;
  lease_boot_id: number | null;
  failures: number;
  health: Record<string, unknown> | null;
  note: string | null;
  /** Boots of the last day, by outcome. */
  done_day: number;
  failed_day: number;
}

/** Every host with its lease, health and the outcomes of its last day. */
export async function listHosts(db: Queryable): Promise<HostRow[]> {
  return rows<HostRow>(
    db,
    'listHosts',
    `select h.id, h.name, h.tbox_group, h.config, h.state, h.epoch, h.lease_until, h.lease_boot_id, h.failures, h.health,
            h.note, coalesce(d.done, 0)::int done_day, coalesce(d.failed, 0)::int failed_day
       from host h
       left join (select host_id, count(*) filter (where state = 'done') done, count(*) filter (where state = 'failed') failed
                    from boot where finished_at > now() - interval '1 day' group by host_id) d on d.host_id = h.id
      order by h.name`,
  );
}
