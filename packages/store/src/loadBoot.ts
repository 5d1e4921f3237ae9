import { type Queryable, rows } from './query.ts';
import type { BootState, Failure, Progress } from './schema.ts';

export interface BootDetail {
  id: number;
  kernel_id: number;
  testcase_id: number;
  testcase: string;
  testcase_key: string;
  program: string;
  params: Record<string, string>;
  job_yaml: string;
  tbox_group: string;
  host: string | null;
  tree: string | null;
  sha: string | null;
  subject: string | null;
  package: string | null;
  release: string | null;
  cmdline: string;
  pair_id: number | null;
  bisect_id: number | null;
  saved_as: string | null;
  block: number;
  seq: number;
  state: BootState;
  failure: Failure | null;
  boot_uuid: string | null;
  token: string;
  progress: Progress | null;
  timeline: { at: number; what: string }[] | null;
  environment: Record<string, string> | null;
  wanted_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  retry_of: number | null;
  attempt: number;
}

/** One boot with its kernel, testcase and host; null when there is none with this id. */
export async function loadBoot(db: Queryable, id: number): Promise<BootDetail | null> {
  const [row] = await rows<BootDetail>(
    db,
    'loadBoot',
    `select b.id, b.kernel_id, b.testcase_id, c.name testcase, c.key testcase_key, c.program, c.params, c.job_yaml,
            c.tbox_group, h.name host, t.name tree, k.sha, m.subject, k.package, k.release, k.cmdline, b.pair_id,
            b.bisect_id, b.saved_as, b.block, b.seq, b.state, b.failure, b.boot_uuid, b.token, b.progress, b.timeline,
            b.environment, b.wanted_at, b.started_at, b.finished_at, b.retry_of, b.attempt
       from boot b
       join testcase c on c.id = b.testcase_id
       join kernel k on k.id = b.kernel_id
       left join tree t on t.id = k.tree_id
       left join commit m on m.sha = k.sha
       left join host h on h.id = b.host_id
      where b.id = $1`,
    [id],
  );
  return row ?? null;
}
