// Generated from the OpenAPI document of apps/server by its test (UPDATE_CLIENT=1); do not edit.

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: { where: string; message: string }[];
};
export type Delta = {
  metric: string;
  verdict: 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive';
  kpi: boolean;
  unit?: string;
  better?: 'higher' | 'lower';
  base: { n: number; mean: number | null; stddev: number | null; values: (number | null)[]; fails?: number };
  head: { n: number; mean: number | null; stddev: number | null; values: (number | null)[]; fails?: number };
  change_pct: number | null;
  change_abs: number | null;
  ci95_pct: [number, number] | null;
  p: number | null;
  q: number | null;
  detectable_pct: number | null;
  flags: string[];
  weight: number;
};
export type Failure = {
  class: 'infra' | 'build' | 'boot' | 'test' | 'bug';
  code: string;
  message: string;
  excerpt?: string;
};
export type Progress = { phase: string; fraction?: number; etaSeconds?: number; note?: string };
export type Pair = {
  id: number;
  tree: string | null;
  branch: string | null;
  state: 'planned' | 'booting' | 'judging' | 'judged' | 'failed' | 'cancelled';
  verdict: 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive' | null;
  line: string | null;
  failure: Failure | null;
  testcase_id: number;
  testcase: string;
  program: string;
  tbox_group: string;
  deterministic: boolean;
  base_sha: string | null;
  head_sha: string | null;
  base_kernel_id: number;
  head_kernel_id: number;
  head_subject: string | null;
  bisect_id: number | null;
  report_id: number | null;
  planned_at: string;
  judged_at: string | null;
  boots_done: number;
  boots_open: number;
};
export type KernelSide = {
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
  state: 'wanted' | 'building' | 'built' | 'failed';
  failure: Failure | null;
  same_as: number | null;
  subject: string | null;
  author_name: string | null;
  authored_at: string | null;
  parents: string[] | null;
};
export type PairDetail = {
  id: number;
  url: string;
  tree: string | null;
  branch: string | null;
  state: 'planned' | 'booting' | 'judging' | 'judged' | 'failed' | 'cancelled';
  verdict: 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive' | null;
  line: string | null;
  failure: Failure | null;
  looks: number;
  judge_version: string | null;
  judgement_id: number | null;
  base: KernelSide;
  head: KernelSide;
  testcase: {
    id: number;
    key: string;
    name: string;
    program: string;
    tbox_group: string;
    deterministic: boolean;
    params: Record<string, string>;
    versions: Record<string, string>;
  };
  boots: { base: number[]; head: number[] };
  counts: Record<string, number>;
  deltas: Delta[];
  deltas_total: number;
  environment_differences: { what: string; base: string[]; head: string[] }[];
  bisect_id: number | null;
  culprit_sha: string | null;
  report_id: number | null;
  planned_at: string;
  judged_at: string | null;
  prev_id: number | null;
  next_id: number | null;
  links: Record<string, string>;
};
export type Boot = {
  id: number;
  kernel_id: number;
  testcase_id: number;
  testcase: string;
  program: string;
  host: string | null;
  sha: string | null;
  package: string | null;
  pair_id: number | null;
  bisect_id: number | null;
  block: number;
  seq: number;
  state: 'wanted' | 'claimed' | 'booting' | 'running' | 'collecting' | 'done' | 'failed' | 'cancelled';
  failure: Failure | null;
  progress: Progress | null;
  wanted_at: string;
  started_at: string | null;
  finished_at: string | null;
};
export type StoredFile = { name: string; sha256: string; bytes: number; url: string };
export type BootDetail = {
  id: number;
  kernel_id: number;
  testcase_id: number;
  testcase: string;
  program: string;
  host: string | null;
  sha: string | null;
  package: string | null;
  pair_id: number | null;
  bisect_id: number | null;
  block: number;
  seq: number;
  state: 'wanted' | 'claimed' | 'booting' | 'running' | 'collecting' | 'done' | 'failed' | 'cancelled';
  failure: Failure | null;
  progress: Progress | null;
  wanted_at: string;
  started_at: string | null;
  finished_at: string | null;
  tree: string | null;
  subject: string | null;
  release: string | null;
  cmdline: string;
  tbox_group: string;
  boot_uuid: string | null;
  timeline: { at: number; what: string }[] | null;
  environment: Record<string, string> | null;
  retry_of: number | null;
  files: StoredFile[];
  samples: Record<string, number | null>;
};
export type Bisect = {
  id: number;
  tree: string;
  testcase: string;
  tbox_group: string;
  metric: string;
  pair_id: number | null;
  state: 'wanted' | 'running' | 'paused' | 'verifying' | 'done' | 'failed' | 'cancelled';
  good_sha: string;
  bad_sha: string;
  culprit_sha: string | null;
  culprit_subject: string | null;
  certainty: number;
  best: number | null;
  boots_done: number;
  budget: number;
  asked_by: string;
  asked_at: string;
  ended_at: string | null;
};
export type Probe = {
  seq: number;
  sha: string;
  subject: string | null;
  kernel_id: number | null;
  boots: number;
  boot_ids: number[];
  values: (number | null)[] | null;
  state: 'wanted' | 'done' | 'untestable';
  why: string;
  posterior_before: Record<string, number> | null;
  posterior_after: Record<string, number> | null;
  at: string;
};
export type BisectDetail = {
  id: number;
  tree: string;
  testcase: string;
  tbox_group: string;
  metric: string;
  pair_id: number | null;
  state: 'wanted' | 'running' | 'paused' | 'verifying' | 'done' | 'failed' | 'cancelled';
  good_sha: string;
  bad_sha: string;
  culprit_sha: string | null;
  culprit_subject: string | null;
  certainty: number;
  boots_done: number;
  budget: number;
  asked_by: string;
  asked_at: string;
  ended_at: string | null;
  testcase_id: number;
  posterior: Record<string, number> | null;
  untestable: Record<string, string> | null;
  culprit_author: string | null;
  result: Record<string, unknown> | null;
  verify_pair_id: number | null;
  failure: Failure | null;
  report_id: number | null;
  boots_open: number;
  commits: { sha: string; subject: string; author: string; p: number }[];
  probes: Probe[];
};
export type Event = {
  id: number;
  at: string;
  kind: string;
  subject: string;
  actor: string;
  data: Record<string, unknown>;
};
export type Report = {
  id: number;
  kind: string;
  state:
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
  tree: string;
  culprit_sha: string;
  subject: string;
  to: string[];
  cc: string[];
  pair_id: number | null;
  bisect_id: number | null;
  note: string | null;
  created_at: string;
  state_at: string;
};
export type ReportDetail = {
  id: number;
  kind: string;
  state:
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
  tree: string;
  culprit_sha: string;
  subject: string;
  to: string[];
  cc: string[];
  pair_id: number | null;
  bisect_id: number | null;
  note: string | null;
  created_at: string;
  state_at: string;
  body: string;
  dropped: { address: string; why: string }[];
  message_id: string;
  outbox_state: string | null;
  response: string | null;
  sent_at: string | null;
  culprit_subject: string | null;
  culprit_author: string | null;
  judgement_id: number | null;
  files: StoredFile[];
  events: Event[];
};
export type Host = {
  id: number;
  name: string;
  tbox_group: string;
  state: 'idle' | 'leased' | 'suspect' | 'quarantined' | 'maintenance';
  lease_until: string | null;
  lease_boot_id: number | null;
  failures: number;
  health: Record<string, unknown> | null;
  note: string | null;
  done_day: number;
  failed_day: number;
};
export type Tree = {
  id: number;
  name: string;
  url: string;
  active: boolean;
  fetched_at: string | null;
  fetch_error: string | null;
  fetch_failures: number;
  next_fetch_at: string;
  heads: { branch: string; sha: string; subject: string | null; seen_at: string; state: string; note: string | null }[];
};
export type Running = {
  what: 'boot' | 'kernel';
  id: number;
  state: string;
  host: string | null;
  sha: string | null;
  package: string | null;
  testcase: string | null;
  pair_id: number | null;
  bisect_id: number | null;
  progress: Progress | null;
  started_at: string | null;
};
export type Overview = {
  trees: Tree[];
  pairs: Pair[];
  running: Running[];
  queue: {
    boots: number;
    kernels: number;
    oldest: string | null;
    boot_seconds: number | null;
    hosts: number;
    eta_seconds: number | null;
  };
  hosts: Host[];
  bisects: Bisect[];
};
export type Series = {
  testcase_id: number;
  testcase: string;
  tbox_group: string;
  metric: string;
  branch?: string;
  boots: number[];
  kernels: number[];
  shas: (string | null)[];
  at: number[];
  committed: (number | null)[];
  values: number[];
  marks: {
    pair_id: number;
    verdict: string;
    change_pct: number | null;
    head_kernel_id: number;
    bisect_id: number | null;
    report_id: number | null;
  }[];
};
export type Kernel = {
  id: number;
  kind: 'kbuild' | 'deb';
  tree: string | null;
  sha: string | null;
  package: string | null;
  package_version: string | null;
  subject: string | null;
  kconfig: string;
  kconfig_hash: string;
  compiler: string;
  cmdline: string;
  release: string | null;
  build_id: string | null;
  load_hash: string | null;
  same_as: number | null;
  state: 'wanted' | 'building' | 'built' | 'failed';
  failure: Failure | null;
  image_bytes: number | null;
  build_ms: number | null;
};
export type Commit = {
  sha: string;
  parents: string[];
  author_name: string;
  author_email: string;
  committer_name: string;
  subject: string;
  body: string;
  kernels: Kernel[];
  pairs: Pair[];
  boots: Boot[];
  reports: Report[];
};
export type TestcaseRow = {
  id: number;
  key: string;
  name: string;
  program: string;
  tbox_group: string;
  deterministic: boolean;
  boots: number;
};
export type NoiseRow = {
  testcase_id: number;
  testcase: string;
  tbox_group: string;
  metric: string;
  kpi: boolean;
  kernels: number;
  boots: number;
  within_pct: number | null;
  df: number;
  between_pct: number | null;
  level: number;
  up_to_boot: number;
};

export interface Operations {
  /** The audit trail: who did what, newest first */
  listEvents: {
    params: { subject?: string; kind?: string; before?: number; limit?: number };
    body: undefined;
    answer: { items: Event[]; next: number | null };
  };
  /** Events as they happen (server-sent events) */
  streamEvents: { params: { subject?: string; since?: number }; body: undefined; answer: string };
  /** Test machines, their leases and health */
  listHosts: { params: Record<string, never>; body: undefined; answer: { items: Host[] } };
  /** Take a host out, or bring it back */
  moveHost: {
    params: { name: string; action: 'take-out' | 'bring-back' };
    body: { note?: string };
    answer: { name: string; action: string };
  };
  /** A kernel and its files: build log, config */
  getKernel: {
    params: { id: number };
    body: undefined;
    answer: {
      id: number;
      kind: 'kbuild' | 'deb';
      tree: string | null;
      sha: string | null;
      package: string | null;
      package_version: string | null;
      subject: string | null;
      kconfig: string;
      kconfig_hash: string;
      compiler: string;
      cmdline: string;
      release: string | null;
      build_id: string | null;
      load_hash: string | null;
      same_as: number | null;
      state: 'wanted' | 'building' | 'built' | 'failed';
      failure: Failure | null;
      image_bytes: number | null;
      build_ms: number | null;
      files: StoredFile[];
    };
  };
  /** Everything known about a commit */
  getCommit: { params: { sha: string }; body: undefined; answer: Commit };
  /** One or many metrics over the boots of testcases */
  getHistory: {
    params: { testcase?: string; metric?: string; tree?: string; branch?: string; limit?: number };
    body: undefined;
    answer: { series: Series[] };
  };
  /** Testcases that have boots */
  listTestcases: { params: { tree?: string }; body: undefined; answer: { items: TestcaseRow[] } };
  /** Names of the metrics of a testcase, KPIs first */
  listMetrics: {
    params: { q?: string; limit?: number; id: number };
    body: undefined;
    answer: { items: { name: string; kpi: boolean }[] };
  };
  /** How far the boots of one kernel scatter, per KPI or metric and testcase: the noisiest 500 */
  getNoise: { params: { testcase?: number; metrics?: 'kpi' | 'all' }; body: undefined; answer: { items: NoiseRow[] } };
  /** Compare any two kernels at a testcase, from the boots that there are */
  compareKernels: {
    params: { base?: number; head?: number; testcase?: number; deltas?: 'reported' | 'all' };
    body: undefined;
    answer: {
      verdict: 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive';
      line: string;
      boots: { base: number[]; head: number[] };
      deltas: Delta[];
      deltas_total: number;
    };
  };
  /** What runs, what waits, and what was found lately */
  getOverview: { params: Record<string, never>; body: undefined; answer: Overview };
  /** Pairs, newest first */
  listPairs: {
    params: {
      tree?: string;
      branch?: string;
      verdict?: 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive';
      state?: 'planned' | 'booting' | 'judging' | 'judged' | 'failed' | 'cancelled';
      program?: string;
      tbox_group?: string;
      testcase_id?: number;
      sha?: string;
      before?: number;
      limit?: number;
    };
    body: undefined;
    answer: { items: Pair[]; next: number | null };
  };
  /** A pair with its verdict and deltas */
  getPair: {
    params: {
      q?: string;
      program?: string;
      verdict?: string;
      flag?: string;
      sort?: 'weight' | 'size' | 'name' | 'p';
      deltas?: 'reported' | 'all' | 'none';
      id: number;
    };
    body: undefined;
    answer: PairDetail;
  };
  /** Bisects, newest first */
  listBisects: {
    params: {
      tree?: string;
      state?: 'wanted' | 'running' | 'paused' | 'verifying' | 'done' | 'failed' | 'cancelled';
      before?: number;
      limit?: number;
    };
    body: undefined;
    answer: { items: Bisect[]; next: number | null };
  };
  /** Ask for a bisect of a metric between two commits */
  startBisect: {
    params: Record<string, never>;
    body: {
      tree: string;
      good: string;
      bad: string;
      testcase: string;
      metric: string;
      tbox_group?: string;
      budget?: number;
      certainty?: number;
    };
    answer: { id: number; url: string };
  };
  /** A bisect with its posterior, probes and culprit */
  getBisect: { params: { id: number }; body: undefined; answer: BisectDetail };
  /** Pause, resume or cancel a bisect */
  actOnBisect: {
    params: { id: number; action: 'pause' | 'resume' | 'cancel' };
    body: undefined;
    answer: { id: number; action: string };
  };
  /** Give a bisect more boots */
  extendBisect: { params: { id: number }; body: { boots: number }; answer: { id: number; budget: number } };
  /** Boots, newest first */
  listBoots: {
    params: {
      pair?: number;
      bisect?: number;
      kernel?: number;
      testcase?: number;
      host?: string;
      state?: 'wanted' | 'claimed' | 'booting' | 'running' | 'collecting' | 'done' | 'failed' | 'cancelled';
      sha?: string;
      before?: number;
      limit?: number;
    };
    body: undefined;
    answer: { items: Boot[]; next: number | null };
  };
  /** A boot with its files, samples and timeline */
  getBoot: { params: { id: number }; body: undefined; answer: BootDetail };
  /** Reports, newest first, without their bodies */
  listReports: {
    params: {
      tree?: string;
      state?:
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
      sha?: string;
      before?: number;
      limit?: number;
    };
    body: undefined;
    answer: { items: Report[]; next: number | null };
  };
  /** A report: its mail, files and changes of state */
  getReport: { params: { id: number }; body: undefined; answer: ReportDetail };
  /** Approve a draft: it is sent to whom the rules allow */
  approveReport: { params: { id: number }; body: undefined; answer: { id: number; state: string } };
  /** Reject a draft, with the reason */
  rejectReport: { params: { id: number }; body: { reason: string }; answer: { id: number; state: string } };
  /** Replace the recipients of a draft */
  setReportRecipients: {
    params: { id: number };
    body: { to: string[]; cc: string[] };
    answer: { id: number; state: string };
  };
  /** Watched trees and their heads */
  listTrees: { params: Record<string, never>; body: undefined; answer: { items: Tree[] } };
  /** Fetch a tree now (for git hooks) */
  pokeTree: { params: { name: string }; body: undefined; answer: { tree: string; due: 'now' } };
  /** The matrix of a commit at a testcase: metric → one number per boot */
  getMatrix: {
    params: { lkp?: '0' | '1'; kernel?: number; tbox_group?: string; tree: string; sha: string; file: string };
    body: undefined;
    answer: string;
  };
  /** The matrix of one side of a pair, with the boots that were judged */
  getPairMatrix: { params: { lkp?: '0' | '1'; id: number; file: string }; body: undefined; answer: string };
  /** The matrix of one boot */
  getBootMatrix: { params: { lkp?: '0' | '1'; id: number }; body: undefined; answer: string };
  /** A file kept for a boot, kernel or report: raw archive, console log, build log, config … */
  getFile: {
    params: { kind: 'boots' | 'kernels' | 'reports'; id: number; name: string };
    body: undefined;
    answer: string;
  };
}

export const operations = {
  listEvents: ['GET', '/api/v1/events'],
  streamEvents: ['GET', '/api/v1/events/stream'],
  listHosts: ['GET', '/api/v1/hosts'],
  moveHost: ['POST', '/api/v1/hosts/{name}/{action}'],
  getKernel: ['GET', '/api/v1/kernels/{id}'],
  getCommit: ['GET', '/api/v1/commits/{sha}'],
  getHistory: ['GET', '/api/v1/history'],
  listTestcases: ['GET', '/api/v1/testcases'],
  listMetrics: ['GET', '/api/v1/testcases/{id}/metrics'],
  getNoise: ['GET', '/api/v1/noise'],
  compareKernels: ['GET', '/api/v1/compare'],
  getOverview: ['GET', '/api/v1/overview'],
  listPairs: ['GET', '/api/v1/pairs'],
  getPair: ['GET', '/api/v1/pairs/{id}'],
  listBisects: ['GET', '/api/v1/bisects'],
  startBisect: ['POST', '/api/v1/bisects'],
  getBisect: ['GET', '/api/v1/bisects/{id}'],
  actOnBisect: ['POST', '/api/v1/bisects/{id}/{action}'],
  extendBisect: ['POST', '/api/v1/bisects/{id}/budget'],
  listBoots: ['GET', '/api/v1/boots'],
  getBoot: ['GET', '/api/v1/boots/{id}'],
  listReports: ['GET', '/api/v1/reports'],
  getReport: ['GET', '/api/v1/reports/{id}'],
  approveReport: ['POST', '/api/v1/reports/{id}/approve'],
  rejectReport: ['POST', '/api/v1/reports/{id}/reject'],
  setReportRecipients: ['PUT', '/api/v1/reports/{id}/recipients'],
  listTrees: ['GET', '/api/v1/trees'],
  pokeTree: ['POST', '/api/v1/trees/{name}/poke'],
  getMatrix: ['GET', '/matrix/{tree}/{sha}/{file}'],
  getPairMatrix: ['GET', '/pairs/{id}/{file}'],
  getBootMatrix: ['GET', '/api/v1/boots/{id}/matrix.json'],
  getFile: ['GET', '/files/{kind}/{id}/{name}'],
} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;
