/** What the API answers with, as zod schemas: they type the handlers and become the OpenAPI document. */
import { z } from 'zod';
import { ApiDelta, VERDICTS } from '../deltas.ts';

const num = () => z.number();
const str = () => z.string();
const json = () => z.record(z.string(), z.unknown());
const counts = () => z.record(z.string(), z.number());
const words = () => z.record(z.string(), z.string());
/** Handlers return Date objects; JSON.stringify writes them as ISO strings. */
const date = () => z.any().meta({ type: 'string', format: 'date-time' }) as unknown as z.ZodType<Date>;

export const Id = z.coerce.number().int().min(1).max(2_147_483_647);
export const IdParams = z.object({ id: Id.describe('Number of the row') });
export const Limit = z.coerce.number().int().min(1).max(200).default(50).describe('Rows per answer, at most 200');
export const Cursor = Id.optional().describe('`next` of the answer before: rows with smaller ids follow');
export const Sha = str()
  .regex(/^[0-9a-f]{40}$/)
  .describe('A full commit id, 40 hex digits');
export const Name = str().min(1).max(200);
export const NoiseMetrics = z.enum(['kpi', 'all']).default('kpi').describe('`all`: also what is no KPI');

export const Failure = z
  .object({
    class: z.enum(['infra', 'build', 'boot', 'test', 'bug']),
    code: str(),
    message: str(),
    excerpt: str().optional(),
  })
  .meta({ id: 'Failure', description: 'Why something ended without a result; the class says whose fault it is.' });
export const Progress = z
  .object({ phase: str(), fraction: num().optional(), etaSeconds: num().optional(), note: str().optional() })
  .meta({ id: 'Progress' });

const Verdict = z.enum(VERDICTS);
export const PairState = z.enum(['planned', 'booting', 'judging', 'judged', 'failed', 'cancelled']);
export const BootState = z.enum([
  'wanted',
  'claimed',
  'booting',
  'running',
  'collecting',
  'done',
  'failed',
  'cancelled',
]);
export const BisectState = z.enum(['wanted', 'running', 'paused', 'verifying', 'done', 'failed', 'cancelled']);
export const ReportState = z.enum([
  'draft',
  'approved',
  'sending',
  'sent',
  'unknown',
  'fixed',
  'expected',
  'invalid',
  'duplicate',
  'stale',
  'rejected',
]);

export const Pair = z
  .object({
    id: num(),
    tree: str().nullable(),
    branch: str().nullable(),
    state: PairState,
    verdict: Verdict.nullable(),
    line: str().nullable().describe('The verdict as one sentence'),
    failure: Failure.nullable(),
    testcase_id: num(),
    testcase: str(),
    program: str(),
    tbox_group: str(),
    deterministic: z.boolean(),
    base_sha: str().nullable(),
    head_sha: str().nullable(),
    base_kernel_id: num(),
    head_kernel_id: num(),
    head_subject: str().nullable(),
    bisect_id: num().nullable(),
    report_id: num().nullable(),
    planned_at: date(),
    judged_at: date().nullable(),
    boots_done: num(),
    boots_open: num(),
  })
  .meta({ id: 'Pair', description: 'Two kernels compared at one testcase.' });

const KernelSide = z
  .object({
    id: num(),
    kind: z.enum(['kbuild', 'deb']),
    sha: str().nullable(),
    package: str().nullable(),
    package_version: str().nullable(),
    kconfig: str(),
    kconfig_hash: str(),
    compiler: str(),
    cmdline: str(),
    release: str().nullable(),
    state: z.enum(['wanted', 'building', 'built', 'failed']),
    failure: Failure.nullable(),
    same_as: num().nullable().describe('The earlier kernel with equal code, whose boots count for this one'),
    subject: str().nullable(),
    author_name: str().nullable(),
    authored_at: str().nullable(),
    parents: z.array(str()).nullable(),
  })
  .meta({ id: 'KernelSide' });

export const PairDetail = z
  .object({
    id: num(),
    url: str().describe('The page'),
    tree: str().nullable(),
    branch: str().nullable(),
    state: PairState,
    verdict: Verdict.nullable(),
    line: str().nullable().describe('The verdict as one sentence'),
    failure: Failure.nullable(),
    looks: num(),
    judge_version: str().nullable(),
    judgement_id: num().nullable(),
    base: KernelSide,
    head: KernelSide,
    testcase: z.object({
      id: num(),
      key: str(),
      name: str(),
      program: str(),
      tbox_group: str(),
      deterministic: z.boolean(),
      params: words(),
      versions: words(),
    }),
    boots: z.object({ base: z.array(num()), head: z.array(num()) }).describe('Ids, in the order of `values`'),
    counts: counts().describe('Metrics by verdict'),
    deltas: z.array(ApiDelta),
    deltas_total: num(),
    environment_differences: z.array(z.object({ what: str(), base: z.array(str()), head: z.array(str()) })),
    bisect_id: num().nullable(),
    culprit_sha: str().nullable(),
    report_id: num().nullable(),
    planned_at: date(),
    judged_at: date().nullable(),
    prev_id: num().nullable(),
    next_id: num().nullable(),
    links: words(),
  })
  .meta({ id: 'PairDetail' });

export const Boot = z
  .object({
    id: num(),
    kernel_id: num(),
    testcase_id: num(),
    testcase: str(),
    program: str(),
    host: str().nullable(),
    sha: str().nullable(),
    package: str().nullable(),
    pair_id: num().nullable(),
    bisect_id: num().nullable(),
    block: num(),
    seq: num(),
    state: BootState,
    failure: Failure.nullable(),
    progress: Progress.nullable(),
    wanted_at: date(),
    started_at: date().nullable(),
    finished_at: date().nullable(),
  })
  .meta({ id: 'Boot', description: 'One boot of one kernel on one host running one testcase.' });

export const StoredFile = z.object({ name: str(), sha256: str(), bytes: num(), url: str() }).meta({ id: 'StoredFile' });

export const BootDetail = z
  .object({
    ...Boot.shape,
    tree: str().nullable(),
    subject: str().nullable(),
    release: str().nullable(),
    cmdline: str(),
    tbox_group: str(),
    boot_uuid: str().nullable(),
    timeline: z.array(z.object({ at: num(), what: str() })).nullable(),
    environment: words().nullable(),
    retry_of: num().nullable(),
    files: z.array(StoredFile),
    samples: z.record(z.string(), z.number().nullable()).describe('metric → number'),
  })
  .meta({ id: 'BootDetail' });

export const Bisect = z
  .object({
    id: num(),
    tree: str(),
    testcase: str(),
    tbox_group: str(),
    metric: str(),
    pair_id: num().nullable(),
    state: BisectState,
    good_sha: str(),
    bad_sha: str(),
    culprit_sha: str().nullable(),
    culprit_subject: str().nullable(),
    certainty: num(),
    best: num().nullable().describe('Largest probability of any commit, so far'),
    boots_done: num(),
    budget: num(),
    asked_by: str(),
    asked_at: date(),
    ended_at: date().nullable(),
  })
  .meta({ id: 'Bisect' });

const Posterior = z.record(z.string(), z.number()).nullable().describe('sha → probability of being the culprit');

export const Probe = z
  .object({
    seq: num(),
    sha: str(),
    subject: str().nullable(),
    kernel_id: num().nullable(),
    boots: num(),
    boot_ids: z.array(num()),
    values: z.array(z.number().nullable()).nullable(),
    state: z.enum(['wanted', 'done', 'untestable']),
    why: str(),
    posterior_before: Posterior,
    posterior_after: Posterior,
    at: date(),
  })
  .meta({ id: 'Probe' });

export const BisectDetail = z
  .object({
    ...Bisect.omit({ best: true }).shape,
    testcase_id: num(),
    posterior: Posterior,
    untestable: words().nullable().describe('sha → why'),
    culprit_author: str().nullable(),
    result: json().nullable(),
    verify_pair_id: num().nullable(),
    failure: Failure.nullable(),
    report_id: num().nullable(),
    boots_open: num(),
    commits: z.array(z.object({ sha: str(), subject: str(), author: str(), p: num() })).describe('Oldest first'),
    probes: z.array(Probe),
  })
  .meta({ id: 'BisectDetail' });

export const Event = z
  .object({ id: num(), at: date(), kind: str(), subject: str(), actor: str(), data: json() })
  .meta({ id: 'Event', description: 'A line of the audit trail.' });

export const Report = z
  .object({
    id: num(),
    kind: str(),
    state: ReportState,
    tree: str(),
    culprit_sha: str(),
    subject: str(),
    to: z.array(str()),
    cc: z.array(str()),
    pair_id: num().nullable(),
    bisect_id: num().nullable(),
    note: str().nullable(),
    created_at: date(),
    state_at: date(),
  })
  .meta({ id: 'Report' });

export const ReportDetail = z
  .object({
    ...Report.shape,
    body: str(),
    dropped: z.array(z.object({ address: str(), why: str() })),
    message_id: str(),
    outbox_state: str().nullable(),
    response: str().nullable(),
    sent_at: date().nullable(),
    culprit_subject: str().nullable(),
    culprit_author: str().nullable(),
    judgement_id: num().nullable(),
    files: z.array(StoredFile),
    events: z.array(Event),
  })
  .meta({ id: 'ReportDetail' });

export const Host = z
  .object({
    id: num(),
    name: str(),
    tbox_group: str(),
    state: z.enum(['idle', 'leased', 'suspect', 'quarantined', 'maintenance']),
    lease_until: date().nullable(),
    lease_boot_id: num().nullable(),
    failures: num(),
    health: json().nullable(),
    note: str().nullable(),
    done_day: num(),
    failed_day: num(),
  })
  .meta({ id: 'Host' });

export const Tree = z
  .object({
    id: num(),
    name: str(),
    url: str(),
    active: z.boolean(),
    fetched_at: date().nullable(),
    fetch_error: str().nullable(),
    fetch_failures: num(),
    next_fetch_at: date(),
    heads: z.array(
      z.object({
        branch: str(),
        sha: str(),
        subject: str().nullable(),
        seen_at: str(),
        state: str(),
        note: str().nullable(),
      }),
    ),
  })
  .meta({ id: 'Tree' });

export const Running = z
  .object({
    what: z.enum(['boot', 'kernel']),
    id: num(),
    state: str(),
    host: str().nullable(),
    sha: str().nullable(),
    package: str().nullable(),
    testcase: str().nullable(),
    pair_id: num().nullable(),
    bisect_id: num().nullable(),
    progress: Progress.nullable(),
    started_at: date().nullable(),
  })
  .meta({ id: 'Running' });

export const Overview = z
  .object({
    trees: z.array(Tree),
    pairs: z.array(Pair),
    running: z.array(Running),
    queue: z.object({
      boots: num(),
      kernels: num(),
      oldest: date().nullable(),
      boot_seconds: num().nullable(),
      hosts: num(),
      eta_seconds: num().nullable(),
    }),
    hosts: z.array(Host),
    bisects: z.array(Bisect),
  })
  .meta({ id: 'Overview' });

/** A page of a list; `next` is the cursor of the following one. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.number().nullable().describe('Give it as `before`; null: no more') });

export function pageOf<T extends { id: number }>(items: T[], limit: number): { items: T[]; next: number | null } {
  return { items, next: items.length === limit ? items.at(-1)!.id : null };
}
