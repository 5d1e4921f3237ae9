/**
 * The tables of DESIGN.md, "Data". Postgres is the truth: every row that asks for work has a `state`, is claimed by
 * `UPDATE … WHERE state = … RETURNING` with a claim token, and the last write of a step carries the token.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  real,
  smallint,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const at = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const id = () => integer('id').primaryKey().generatedAlwaysAsIdentity();

/** Who holds a row that is being worked on; past `claim_until` the reconciler takes it back. */
const claim = () => ({
  claim: uuid('claim'),
  claimUntil: at('claim_until'),
  attempt: integer('attempt').notNull().default(0),
});

export type FailureClass = 'infra' | 'build' | 'boot' | 'test' | 'bug';
export interface Failure {
  class: FailureClass;
  code: string;
  message: string;
  /** First error of a log, tail of a console. */
  excerpt?: string;
}

export const tree = pgTable('tree', {
  id: id(),
  name: text('name').notNull().unique(),
  url: text('url').notNull(),
  /** TreeConfig as loaded. */
  config: jsonb('config').notNull(),
  active: boolean('active').notNull().default(true),
  fetchedAt: at('fetched_at'),
  fetchError: text('fetch_error'),
  fetchFailures: integer('fetch_failures').notNull().default(0),
  nextFetchAt: at('next_fetch_at').notNull().defaultNow(),
});

/** Every head ever seen, in order; a pair is planned for each. */
export const branchHead = pgTable(
  'branch_head',
  {
    id: id(),
    treeId: integer('tree_id')
      .notNull()
      .references(() => tree.id),
    branch: text('branch').notNull(),
    sha: text('sha').notNull(),
    seenAt: at('seen_at').notNull().defaultNow(),
    /** seen → planned (its pairs exist) | skipped (nothing to compare with: `note` says why) */
    state: text('state').$type<'seen' | 'planned' | 'skipped'>().notNull().default('seen'),
    note: text('note'),
    ...claim(),
  },
  (t) => [index('branch_head_tree').on(t.treeId, t.branch, t.id)],
);

export const commit = pgTable('commit', {
  sha: text('sha').primaryKey(),
  parents: text('parents').array().notNull(),
  authorName: text('author_name').notNull(),
  authorEmail: text('author_email').notNull(),
  committerName: text('committer_name').notNull(),
  committerEmail: text('committer_email').notNull(),
  authoredAt: at('authored_at').notNull(),
  committedAt: at('committed_at').notNull(),
  subject: text('subject').notNull(),
  body: text('body').notNull().default(''),
});

export type KernelState = 'wanted' | 'building' | 'built' | 'failed';

/** A commit built with one kconfig and compiler (or one package), and the boot parameters it is started with. */
export const kernel = pgTable(
  'kernel',
  {
    id: id(),
    kind: text('kind').$type<'kbuild' | 'deb'>().notNull(),
    treeId: integer('tree_id').references(() => tree.id),
    /** A repository on disk that is no tree (`kdelta run … --kernel PATH:COMMIT`). */
    repo: text('repo'),
    sha: text('sha').references(() => commit.sha),
    package: text('package'),
    packageVersion: text('package_version'),
    /** Name of the kconfig (base+fragments) and its content hash. */
    kconfig: text('kconfig').notNull().default(''),
    kconfigHash: text('kconfig_hash').notNull().default(''),
    compiler: text('compiler').notNull().default(''),
    cmdline: text('cmdline').notNull().default(''),
    buildKey: text('build_key'),
    release: text('release'),
    buildId: text('build_id'),
    loadHash: text('load_hash'),
    /** The earlier kernel whose loadable sections and cmdline are equal: its boots count for this one. */
    sameAs: integer('same_as'),
    state: text('state').$type<KernelState>().notNull().default('wanted'),
    failure: jsonb('failure').$type<Failure>(),
    artifact: jsonb('artifact'),
    imageBytes: integer('image_bytes'),
    buildMs: integer('build_ms'),
    wantedAt: at('wanted_at').notNull().defaultNow(),
    builtAt: at('built_at'),
    priority: integer('priority').notNull().default(0),
    progress: jsonb('progress').$type<Progress>(),
    ...claim(),
  },
  (t) => [
    unique('kernel_build')
      .on(t.kind, t.treeId, t.sha, t.package, t.packageVersion, t.kconfigHash, t.cmdline)
      .nullsNotDistinct(),
    index('kernel_sha').on(t.sha),
    index('kernel_load').on(t.loadHash, t.cmdline),
  ],
);

/** What runs, how far, how long yet; shown live. */
export interface Progress {
  phase: string;
  /** 0…1 within the phase. */
  fraction?: number;
  etaSeconds?: number;
  note?: string;
}

export type HostState = 'idle' | 'leased' | 'suspect' | 'quarantined' | 'maintenance';

export const host = pgTable('host', {
  id: id(),
  name: text('name').notNull().unique(),
  tboxGroup: text('tbox_group').notNull(),
  /** HostFile as loaded. */
  config: jsonb('config').notNull(),
  state: text('state').$type<HostState>().notNull().default('idle'),
  /** Grows with every lease; nothing destructive happens under an old one. */
  epoch: integer('epoch').notNull().default(0),
  leaseOwner: uuid('lease_owner'),
  leaseUntil: at('lease_until'),
  leaseBootId: integer('lease_boot_id'),
  failures: integer('failures').notNull().default(0),
  health: jsonb('health'),
  note: text('note'),
});

export const testcase = pgTable('testcase', {
  id: id(),
  /** Testcase.key */
  key: text('key').notNull().unique(),
  name: text('name').notNull(),
  program: text('program').notNull(),
  tboxGroup: text('tbox_group').notNull(),
  params: jsonb('params').$type<Record<string, string>>().notNull(),
  versions: jsonb('versions').$type<Record<string, string>>().notNull(),
  /** Testcase as expanded (packages/jobs). */
  job: jsonb('job').notNull(),
  jobYaml: text('job_yaml').notNull().default(''),
  deterministic: boolean('deterministic').notNull().default(false),
});

export type BootState = 'wanted' | 'claimed' | 'booting' | 'running' | 'collecting' | 'done' | 'failed' | 'cancelled';

export const boot = pgTable(
  'boot',
  {
    id: id(),
    kernelId: integer('kernel_id')
      .notNull()
      .references(() => kernel.id),
    testcaseId: integer('testcase_id')
      .notNull()
      .references(() => testcase.id),
    hostId: integer('host_id').references(() => host.id),
    /** Who asked: at most one of them; null = `kdelta run`. */
    pairId: integer('pair_id'),
    bisectId: integer('bisect_id'),
    savedAs: text('saved_as'),
    /** Boots of one interleaved block run on one host, in order of `seq`. */
    block: integer('block').notNull().default(0),
    seq: integer('seq').notNull().default(0),
    priority: integer('priority').notNull().default(0),
    state: text('state').$type<BootState>().notNull().default('wanted'),
    failure: jsonb('failure').$type<Failure>(),
    /** `kdelta.boot=<token>` on the command line. */
    token: uuid('token').notNull().default(sql`gen_random_uuid()`),
    /** boot_id of the kernel that ran. */
    bootUuid: text('boot_uuid'),
    epoch: integer('epoch'),
    progress: jsonb('progress').$type<Progress>(),
    timeline: jsonb('timeline').$type<{ at: number; what: string }[]>(),
    environment: jsonb('environment').$type<Record<string, string>>(),
    /** Folder on the worker's disk while it runs (reattach). */
    workDir: text('work_dir'),
    wantedAt: at('wanted_at').notNull().defaultNow(),
    startedAt: at('started_at'),
    finishedAt: at('finished_at'),
    /** The boot that this one repeats after an infra failure. */
    retryOf: integer('retry_of'),
    ...claim(),
  },
  (t) => [
    index('boot_testcase_kernel').on(t.testcaseId, t.kernelId),
    index('boot_testcase').on(t.testcaseId, t.id),
    index('boot_pair').on(t.pairId),
    index('boot_bisect').on(t.bisectId),
    index('boot_open').on(t.state).where(sql`state not in ('done','failed','cancelled')`),
    index('boot_saved').on(t.savedAs),
    index('boot_finished').on(t.finishedAt),
  ],
);

/** Raw files, logs and archives: content lies in the artifact store under its sha256. */
export const artifact = pgTable(
  'artifact',
  {
    id: id(),
    bootId: integer('boot_id').references(() => boot.id),
    kernelId: integer('kernel_id').references(() => kernel.id),
    reportId: integer('report_id'),
    /** `raw.tar.gz`, `console.log`, `build.log`, `config`, `reproduce` … */
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  (t) => [index('artifact_boot').on(t.bootId), index('artifact_kernel').on(t.kernelId)],
);

export const metric = pgTable('metric', { id: id(), name: text('name').notNull().unique() });

/** Append-only: slot i of every boot_matrix row of this layout is metric_ids[i]. */
export const metricLayout = pgTable(
  'metric_layout',
  {
    id: id(),
    testcaseId: integer('testcase_id')
      .notNull()
      .references(() => testcase.id),
    metricIds: integer('metric_ids').array().notNull(),
  },
  (t) => [index('metric_layout_testcase').on(t.testcaseId, t.id)],
);

/** deflateRaw(little-endian float64[]) in slot order, NaN = absent. One row per boot: the truth. */
export const bootMatrix = pgTable(
  'boot_matrix',
  {
    bootId: integer('boot_id')
      .primaryKey()
      .references(() => boot.id, { onDelete: 'cascade' }),
    layoutId: integer('layout_id')
      .notNull()
      .references(() => metricLayout.id),
    block: integer('block'),
    values: bytea('values').notNull(),
  },
  (t) => [index('boot_matrix_tail').on(t.layoutId, t.bootId).where(sql`block is null`)],
);

/** 64 slots × 64 boots, derived from boot_matrix: history of any metric (reference: store study, G2). */
export const matrixBlock = pgTable(
  'matrix_block',
  {
    layoutId: integer('layout_id')
      .notNull()
      .references(() => metricLayout.id),
    block: integer('block').notNull(),
    bootIds: integer('boot_ids').array().notNull(),
  },
  (t) => [primaryKey({ columns: [t.layoutId, t.block] })],
);
export const metricBlock = pgTable(
  'metric_block',
  {
    layoutId: integer('layout_id').notNull(),
    grp: smallint('grp').notNull(),
    block: integer('block').notNull(),
    values: bytea('values').notNull(),
  },
  (t) => [primaryKey({ columns: [t.layoutId, t.grp, t.block] })],
);

export const kpiSample = pgTable(
  'kpi_sample',
  {
    testcaseId: integer('testcase_id').notNull(),
    metricId: integer('metric_id').notNull(),
    bootId: integer('boot_id')
      .notNull()
      .references(() => boot.id, { onDelete: 'cascade' }),
    value: doublePrecision('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.testcaseId, t.metricId, t.bootId] })],
);

export type PairState = 'planned' | 'booting' | 'judging' | 'judged' | 'failed' | 'cancelled';
export type VerdictName = 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive';

export const pair = pgTable(
  'pair',
  {
    id: id(),
    treeId: integer('tree_id').references(() => tree.id),
    branch: text('branch'),
    baseKernelId: integer('base_kernel_id')
      .notNull()
      .references(() => kernel.id),
    headKernelId: integer('head_kernel_id')
      .notNull()
      .references(() => kernel.id),
    testcaseId: integer('testcase_id')
      .notNull()
      .references(() => testcase.id),
    state: text('state').$type<PairState>().notNull().default('planned'),
    /** Why it ended without a judgement: a kernel that doesn't build or boot. */
    failure: jsonb('failure').$type<Failure>(),
    looks: integer('looks').notNull().default(0),
    verdict: text('verdict').$type<VerdictName>(),
    line: text('line'),
    judgementId: integer('judgement_id'),
    bisectId: integer('bisect_id'),
    plannedAt: at('planned_at').notNull().defaultNow(),
    judgedAt: at('judged_at'),
    ...claim(),
  },
  (t) => [
    unique('pair_once').on(t.baseKernelId, t.headKernelId, t.testcaseId),
    index('pair_tree').on(t.treeId, t.branch, t.id),
  ],
);

/** What a judgement was asked for, beside its boots. */
export interface Asked {
  look: number;
  looksMax: number;
  wantPct?: number;
  rebuildSpreadPct?: number;
}

/** All deltas of one pair from named boots by one version of the judge; never changed afterwards. */
export const judgement = pgTable(
  'judgement',
  {
    id: id(),
    pairId: integer('pair_id').references(() => pair.id),
    baseKernelId: integer('base_kernel_id').notNull(),
    headKernelId: integer('head_kernel_id').notNull(),
    testcaseId: integer('testcase_id').notNull(),
    baseBoots: integer('base_boots').array().notNull(),
    headBoots: integer('head_boots').array().notNull(),
    /** Boots with a smaller id may serve as history. */
    historyCutoff: integer('history_cutoff').notNull(),
    /** The boots that did: one that was running then may have ended since. null: made before they were kept. */
    historyBoots: integer('history_boots').array(),
    /** What else was handed to the judge. null: made before it was kept. */
    asked: jsonb('asked').$type<Asked>(),
    judgeVersion: text('judge_version').notNull(),
    verdict: text('verdict').$type<VerdictName>().notNull(),
    line: text('line').notNull(),
    /** deflated JSON of the whole Judgement */
    packed: bytea('packed').notNull(),
    madeAt: at('made_at').notNull().defaultNow(),
  },
  (t) => [index('judgement_pair').on(t.pairId)],
);

/** Rows only for KPIs and for what isn't `same` or `inconclusive`. */
export const delta = pgTable(
  'delta',
  {
    judgementId: integer('judgement_id')
      .notNull()
      .references(() => judgement.id),
    metricId: integer('metric_id')
      .notNull()
      .references(() => metric.id),
    kpi: boolean('kpi').notNull(),
    verdict: text('verdict').$type<VerdictName>().notNull(),
    changePct: doublePrecision('change_pct'),
    ciLo: doublePrecision('ci_lo'),
    ciHi: doublePrecision('ci_hi'),
    p: doublePrecision('p'),
    q: doublePrecision('q'),
    detectablePct: doublePrecision('detectable_pct'),
    baseMean: doublePrecision('base_mean'),
    headMean: doublePrecision('head_mean'),
    flags: text('flags').array().notNull(),
  },
  (t) => [primaryKey({ columns: [t.judgementId, t.metricId] }), index('delta_metric').on(t.metricId)],
);

export type BisectState = 'wanted' | 'running' | 'paused' | 'verifying' | 'done' | 'failed' | 'cancelled';

export const bisect = pgTable('bisect', {
  id: id(),
  treeId: integer('tree_id')
    .notNull()
    .references(() => tree.id),
  goodSha: text('good_sha').notNull(),
  badSha: text('bad_sha').notNull(),
  testcaseId: integer('testcase_id')
    .notNull()
    .references(() => testcase.id),
  metricId: integer('metric_id')
    .notNull()
    .references(() => metric.id),
  pairId: integer('pair_id').references(() => pair.id),
  state: text('state').$type<BisectState>().notNull().default('wanted'),
  budget: integer('budget').notNull().default(40),
  certainty: real('certainty').notNull().default(0.95),
  /** sha → probability, latest. */
  posterior: jsonb('posterior').$type<Record<string, number>>(),
  untestable: jsonb('untestable').$type<Record<string, string>>(),
  culpritSha: text('culprit_sha'),
  /** {certainty, credible, stepPct, ci95Pct, boots, builds, reason, …} */
  result: jsonb('result'),
  /** Pair culprit-parent → culprit of the verification. */
  verifyPairId: integer('verify_pair_id'),
  failure: jsonb('failure').$type<Failure>(),
  askedBy: text('asked_by').notNull().default('bot'),
  askedAt: at('asked_at').notNull().defaultNow(),
  endedAt: at('ended_at'),
  ...claim(),
});

export const bisectProbe = pgTable(
  'bisect_probe',
  {
    id: id(),
    bisectId: integer('bisect_id')
      .notNull()
      .references(() => bisect.id),
    seq: integer('seq').notNull(),
    sha: text('sha').notNull(),
    kernelId: integer('kernel_id').references(() => kernel.id),
    /** Boots asked for at this commit by this probe. */
    boots: integer('boots').notNull(),
    bootIds: integer('boot_ids').array().notNull(),
    values: doublePrecision('values').array(),
    state: text('state').$type<'wanted' | 'done' | 'untestable'>().notNull().default('wanted'),
    why: text('why').notNull().default(''),
    posteriorBefore: jsonb('posterior_before').$type<Record<string, number>>(),
    posteriorAfter: jsonb('posterior_after').$type<Record<string, number>>(),
    at: at('at').notNull().defaultNow(),
  },
  (t) => [unique('bisect_probe_seq').on(t.bisectId, t.seq)],
);

export type ReportState =
  | 'draft'
  | 'approved'
  | 'sending'
  | 'sent'
  | 'unknown'
  | 'fixed'
  | 'expected'
  | 'invalid'
  | 'duplicate'
  | 'stale'
  | 'rejected';

export const report = pgTable(
  'report',
  {
    id: id(),
    kind: text('kind').$type<'regression' | 'improvement' | 'build' | 'boot'>().notNull(),
    state: text('state').$type<ReportState>().notNull().default('draft'),
    treeId: integer('tree_id')
      .notNull()
      .references(() => tree.id),
    culpritSha: text('culprit_sha').notNull(),
    bisectId: integer('bisect_id').references(() => bisect.id),
    pairId: integer('pair_id').references(() => pair.id),
    judgementId: integer('judgement_id').references(() => judgement.id),
    subject: text('subject').notNull(),
    body: text('body').notNull(),
    to: text('to').array().notNull(),
    cc: text('cc').array().notNull(),
    /** Addresses dropped, and why; why it is held. */
    dropped: jsonb('dropped').$type<{ address: string; why: string }[]>().notNull().default([]),
    note: text('note'),
    messageId: text('message_id').notNull().unique(),
    createdAt: at('created_at').notNull().defaultNow(),
    stateAt: at('state_at').notNull().defaultNow(),
  },
  (t) => [unique('report_once').on(t.treeId, t.culpritSha, t.kind)],
);

/**
 * The bytes that go out, composed once; a retry sends the same. People get the attachments, lists a version with links;
 * both have the report's Message-ID, as one mail that was relayed by a list without its attachments would.
 */
export const outbox = pgTable(
  'outbox',
  {
    id: id(),
    reportId: integer('report_id')
      .notNull()
      .references(() => report.id),
    messageId: text('message_id').notNull(),
    audience: text('audience').$type<'all' | 'people' | 'lists'>().notNull().default('all'),
    envelopeFrom: text('envelope_from').notNull(),
    envelopeTo: text('envelope_to').array().notNull(),
    raw: bytea('raw').notNull(),
    state: text('state').$type<'queued' | 'sending' | 'sent' | 'unknown' | 'refused'>().notNull().default('queued'),
    response: text('response'),
    sentAt: at('sent_at'),
    nextTryAt: at('next_try_at').notNull().defaultNow(),
    ...claim(),
  },
  (t) => [unique('outbox_once').on(t.messageId, t.audience)],
);

export const apiToken = pgTable('api_token', {
  id: id(),
  name: text('name').notNull(),
  /** sha256 of the token; the token itself is shown once. */
  hash: text('hash').notNull().unique(),
  scopes: text('scopes').array().notNull(),
  madeAt: at('made_at').notNull().defaultNow(),
  expiresAt: at('expires_at'),
  revokedAt: at('revoked_at'),
  usedAt: at('used_at'),
});

/** The audit trail: who did what; also what open pages are told (LISTEN kdelta_event carries the id). */
export const event = pgTable(
  'event',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: at('at').notNull().defaultNow(),
    /** `boot.progress`, `pair.judged`, `bisect.probe`, `report.approve`, `tree.fetch-failed` … */
    kind: text('kind').notNull(),
    /** `boot:12`, `pair:3` … */
    subject: text('subject').notNull(),
    actor: text('actor').notNull().default('kdelta'),
    data: jsonb('data').notNull().default({}),
  },
  (t) => [index('event_subject').on(t.subject, t.id), index('event_kind').on(t.kind, t.id)],
);

/**
 * Noise model of a metric at a testcase, as the boots that its newest judgement could see tell it: derived, written with
 * each judgement, and made again by `kdelta noise rebuild`. Pages read it; a judgement rests on the boots themselves.
 */
export const noise = pgTable(
  'noise',
  {
    testcaseId: integer('testcase_id')
      .notNull()
      .references(() => testcase.id),
    metricId: integer('metric_id')
      .notNull()
      .references(() => metric.id),
    kpi: boolean('kpi').notNull(),
    /** Boot-to-boot variance over the level's square, and the degrees of freedom that it is worth. */
    relVariance: doublePrecision('rel_variance').notNull(),
    df: doublePrecision('df').notNull(),
    /** Mean of the newest kernel's boots. */
    level: doublePrecision('level').notNull(),
    /** Variance of the kernels' means over the square of their mean; null with one kernel, or around 0. */
    betweenVariance: doublePrecision('between_variance'),
    kernels: integer('kernels').notNull(),
    boots: integer('boots').notNull(),
    upToBoot: integer('up_to_boot').notNull(),
    judgeVersion: text('judge_version').notNull(),
  },
  (t) => [primaryKey({ columns: [t.testcaseId, t.metricId] })],
);

/** How long the runs of each step took, over all workers: a histogram that /metrics hands on. */
export const stepTime = pgTable(
  'step_time',
  {
    step: text('step').notNull(),
    failed: boolean('failed').notNull(),
    runs: bigint('runs', { mode: 'number' }).notNull(),
    seconds: doublePrecision('seconds').notNull(),
    /** Runs of at most `stepBounds[i]` seconds. */
    buckets: bigint('buckets', { mode: 'number' }).array().notNull(),
  },
  (t) => [primaryKey({ columns: [t.step, t.failed] })],
);
