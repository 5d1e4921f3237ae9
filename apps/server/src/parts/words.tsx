import type { Delta, Verdict } from '@kdelta/stats';
import type { Failure, Progress } from '@kdelta/store';
import { ago, percent, seconds, shortSha, when } from '../numbers.ts';
import { urls } from '../urls.ts';

export const VERDICT_MARKS: Record<string, string> = {
  regression: '▼',
  improvement: '▲',
  changed: '◆',
  same: '=',
  inconclusive: '?',
};

/** A verdict as a mark and a word: never by colour alone. */
export function VerdictMark({ verdict, short }: { verdict: Verdict | null | undefined; short?: boolean }) {
  if (!verdict) return <span class="verdict none">–</span>;
  return (
    <span class={`verdict ${verdict}`} title={verdict}>
      <i aria-hidden="true">{VERDICT_MARKS[verdict]}</i>
      {short ? <span class="hidden">{verdict}</span> : ` ${verdict}`}
    </span>
  );
}

export function StateMark({ state }: { state: string }) {
  return <span class={`state s-${state}`}>{state}</span>;
}

export const FLAG_MEANING: Record<string, string> = {
  bimodal: 'the boots of one kernel fall into separate groups, which explain the difference: not blamed on the commit',
  unstable: 'one kernel’s boots scatter beyond what its history shows',
  drift: 'the order of the boots explains the difference',
  environment: 'something that must not change did (memory, CPUs, microcode)',
  'no-history': 'the noise is known from these boots only',
  'wild-boot': 'one boot is far off all others and was weighed down',
  new: 'only the head has it, or it rises from 0',
  gone: 'only the base has it, or it falls to 0',
  'few-boots': 'fewer boots than can be judged',
};

export function Flags({ flags }: { flags: readonly string[] }) {
  return (
    <>
      {flags.map((flag) => (
        <span class={`flag f-${flag}`} title={FLAG_MEANING[flag]}>
          {flag}
        </span>
      ))}
    </>
  );
}

/** The change of a delta: percent, or points for a metric that is a percentage, or `new`. */
export function changeText(delta: Delta): string {
  if (delta.family === 'function') return delta.changeAbs === null ? '–' : `${percent(100 * delta.changeAbs, 0)}`;
  if (delta.percent) return delta.changeAbs === null ? '–' : percent(delta.changeAbs).replace(' %', ' pt');
  if (delta.changePct === null) return delta.changeAbs === null ? '–' : delta.base.mean === 0 ? 'new' : '–';
  return percent(delta.changePct);
}

export function Commit({
  sha,
  subject,
  tail,
}: {
  sha: string | null | undefined;
  subject?: string | null;
  tail?: boolean;
}) {
  if (!sha) return <span>–</span>;
  return (
    <span class="commit">
      <a class="sha" href={urls.commit(sha)}>
        {shortSha(sha)}
      </a>
      {subject ? <span class={tail ? 'subject tail' : 'subject'}> {visible(subject)}</span> : null}
    </span>
  );
}

export function KernelName({
  kernel,
}: {
  kernel: {
    id: number;
    sha: string | null;
    package: string | null;
    package_version?: string | null;
    cmdline?: string;
    subject?: string | null;
  };
}) {
  return (
    <span class="kernel">
      {kernel.sha ? (
        <Commit sha={kernel.sha} subject={kernel.subject} />
      ) : (
        <span class="sha">{kernel.package ?? '–'}</span>
      )}
      {kernel.package_version ? ` ${kernel.package_version}` : ''}
      {kernel.cmdline ? <code class="cmdline"> {kernel.cmdline}</code> : null}{' '}
      <a class="quiet" href={urls.kernel(kernel.id)}>
        kernel {kernel.id}
      </a>
    </span>
  );
}

export function Time({ at, now }: { at: Date | string | null | undefined; now?: Date }) {
  if (!at) return <span>–</span>;
  const iso = (typeof at === 'string' ? new Date(at) : at).toISOString();
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {now ? ago(at, now) : when(at)}
    </time>
  );
}

export function FailureBox({ failure }: { failure: Failure | null }) {
  if (!failure) return null;
  return (
    <div class="failure">
      <p>
        <StateMark state={failure.class} /> <b>{failure.message}</b> <code>{failure.code}</code>
      </p>
      {failure.excerpt ? <pre tabIndex={0}>{visible(failure.excerpt)}</pre> : null}
    </div>
  );
}

export function ProgressBar({ progress, state }: { progress: Progress | null; state: string }) {
  const fraction = progress?.fraction;
  return (
    <span class="progress">
      <span>{progress?.phase ?? state}</span>
      {fraction === undefined ? null : (
        <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${Math.round(fraction * 100)} %`}>
          <rect class="track" width="100" height="6" />
          <rect class="fill" width={Math.round(fraction * 1000) / 10} height="6" />
        </svg>
      )}
      {progress?.etaSeconds === undefined ? null : <span class="quiet">{seconds(progress.etaSeconds)} left</span>}
      {progress?.note ? <span class="quiet"> {progress.note}</span> : null}
    </span>
  );
}

// ANSI sequences go, other control characters and direction marks become visible: a log can't dress itself up.
const ANSI = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Hostile text made harmless to read: no ANSI, no direction overrides, no line beyond 2,000 characters. */
export function visible(text: string): string {
  return text
    .replace(ANSI, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROL, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .split('\n')
    .map((line) => (line.length > 2000 ? `${line.slice(0, 2000)}… (${line.length} characters)` : line))
    .join('\n');
}

export function Empty({ children }: { children: preact.ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
