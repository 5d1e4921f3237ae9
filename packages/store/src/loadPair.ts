import { type Queryable, rows } from './query.ts';
import type { Failure, KernelState, PairState, VerdictName } from './schema.ts';

/** One side of a pair: the kernel and, for a commit of a tree, who wrote it. */
export interface KernelSide {
  id: number;
  kind: 'kbuild' | 'deb';
  sha: string | null;
  package: string | null;
  package_version: string | null;
  kconfig: string;
  kconfig_hash: string;
  compiler: string;
  cmdline: string;
  release: string | null;
  state: KernelState;
  failure: Failure | null;
  same_as: number | null;
  subject: string | null;
  author_name: string | null;
  authored_at: string | null;
  parents: string[] | null;
}

export interface PairDetail {
  id: number;
  tree: string | null;
  tree_url: string | null;
  branch: string | null;
  state: PairState;
  verdict: VerdictName | null;
  line: string | null;
  failure: Failure | null;
  looks: number;
  judgement_id: number | null;
  bisect_id: number | null;
  bisect_state: string | null;
  culprit_sha: string | null;
  report_id: number | null;
  report_state: string | null;
  planned_at: Date;
  judged_at: Date | null;
  testcase_id: number;
  testcase_key: string;
  testcase: string;
  program: string;
  tbox_group: string;
  deterministic: boolean;
  params: Record<string, string>;
  versions: Record<string, string>;
  job_yaml: string;
  base: KernelSide;
  head: KernelSide;
  /** Neighbours on the same branch and testcase. */
  prev_id: number | null;
  next_id: number | null;
}

const side = (k: string, c: string) => `json_build_object('id', ${k}.id, 'kind', ${k}.kind, 'sha', ${k}.sha,
  'package', ${k}.package, 'package_version', ${k}.package_version, 'kconfig', ${k}.kconfig, 'kconfig_hash', ${k}.kconfig_hash,
  'compiler', ${k}.compiler, 'cmdline', ${k}.cmdline, 'release', ${k}.release, 'state', ${k}.state, 'failure', ${k}.failure,
  'same_as', ${k}.same_as, 'subject', ${c}.subject, 'author_name', ${c}.author_name, 'authored_at', ${c}.authored_at,
  'parents', ${c}.parents)`;

/** A pair with both kernels, its testcase, bisect, report and neighbours; null when there is none with this id. */
export async function loadPair(db: Queryable, id: number): Promise<PairDetail | null> {
  const [pair] = await rows<PairDetail>(
    db,
    'loadPair',
    `select p.id, t.name tree, t.url tree_url, p.branch, p.state, p.verdict, p.line, p.failure, p.looks, p.judgement_id,
            p.bisect_id, s.state bisect_state, s.culprit_sha, r.id report_id, r.state report_state, p.planned_at, p.judged_at,
            c.id testcase_id, c.key testcase_key, c.name testcase, c.program, c.tbox_group, c.deterministic, c.params,
            c.versions, c.job_yaml, ${side('b', 'bc')} base, ${side('h', 'hc')} head,
            (select max(id) from pair x where x.tree_id = p.tree_id and x.branch = p.branch and x.testcase_id = p.testcase_id and x.id < p.id) prev_id,
            (select min(id) from pair x where x.tree_id = p.tree_id and x.branch = p.branch and x.testcase_id = p.testcase_id and x.id > p.id) next_id
       from pair p
       join testcase c on c.id = p.testcase_id
       join kernel b on b.id = p.base_kernel_id left join commit bc on bc.sha = b.sha
       join kernel h on h.id = p.head_kernel_id left join commit hc on hc.sha = h.sha
       left join tree t on t.id = p.tree_id
       left join bisect s on s.id = p.bisect_id
       left join lateral (select id, state from report
                           where pair_id = p.id or (p.bisect_id is not null and bisect_id = p.bisect_id)
                           order by id desc limit 1) r on true
      where p.id = $1`,
    [id],
  );
  return pair ?? null;
}
