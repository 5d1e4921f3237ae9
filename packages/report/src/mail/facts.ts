import type { Matrix } from '@kdelta/matrix';
import type { Delta } from '@kdelta/stats';

export interface CommitFacts {
  sha: string;
  subject: string;
}

/** What a report's mail is made of: facts only, gathered from the database by the step that reports. */
export interface MailFacts {
  tree: { name: string; branch: string; url: string };
  culprit: CommitFacts & {
    /** Message on lore, from the commit's `Link:` trailer. */
    patchUrl?: string;
  };
  parent: CommitFacts;
  /** The KPI that is reported; one of `deltas`. */
  lead: Delta;
  /** All deltas of the pair parent → culprit, in the judge's order. */
  deltas: Delta[];
  matrices: { parent: Matrix; culprit: Matrix };
  testcase: { name: string; params: Record<string, string> };
  kernel: { kconfig: string; compiler: string };
  host: {
    tboxGroup: string;
    /** `1 CPU, 1G, QEMU 7.2 TCG` */
    description: string;
    /** Instructions are counted, not time. */
    deterministic: boolean;
  };
  /** Null when base and head were one commit apart: no search was needed. */
  search: {
    /** 0…1 */
    certainty: number;
    boots: number;
    kernels: number;
    commits: number;
    untestable: number;
    /** An untestable commit is a parent or child of the culprit. */
    untestableAdjacent: boolean;
    /** Boots of bad with the culprit reverted, and the probability that they show the old level; null: not tried. */
    revert?: { boots: number; oldLevel: number } | null;
  } | null;
  /** Fresh boots of culprit and parent, interleaved; null when the pair's own boots are the evidence. */
  verified: { parent: number; culprit: number; oneHost: boolean } | null;
  /** Commands that ran on the host. */
  reproduce: string[];
  links: {
    report: string;
    reproduce: string;
    /** The dashboard can be reached by anyone: only then the mail has a `Closes:` line. */
    public: boolean;
  };
  from: string;
}
