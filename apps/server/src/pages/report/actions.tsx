import type { ReportDetail } from '@kdelta/store';
import type { Person } from '../../auth.ts';
import { urls } from '../../urls.ts';

/** Approve, edit recipients, reject: for a draft and who has the scope `report`. */
export function ReportActions({ report, person }: { report: ReportDetail; person: Person | null }) {
  if (report.state !== 'draft') return null;
  const may = person?.scopes.some((scope) => scope === 'report' || scope === 'admin');
  if (!may)
    return (
      <p class="actions quiet">
        Nothing is sent yet. <a href={urls.signIn(urls.report(report.id))}>Sign in</a> to approve or reject it.
      </p>
    );
  const csrf = <input type="hidden" name="_csrf" value={person?.csrf ?? ''} />;
  return (
    <div class="actions">
      <form method="post" action={`${urls.report(report.id)}/approve`}>
        {csrf}
        <button type="submit">Approve and send</button>
      </form>
      <form method="post" action={`${urls.report(report.id)}/reject`}>
        {csrf}
        <label>
          reason <input name="reason" required maxLength={500} />
        </label>
        <button type="submit" class="danger">
          Reject
        </button>
      </form>
      <details>
        <summary>Edit recipients</summary>
        <form method="post" action={`${urls.report(report.id)}/recipients`}>
          {csrf}
          <label>
            To{' '}
            <textarea name="to" rows={2}>
              {report.to.join(', ')}
            </textarea>
          </label>
          <label>
            Cc{' '}
            <textarea name="cc" rows={2}>
              {report.cc.join(', ')}
            </textarea>
          </label>
          <button type="submit">Save</button>
        </form>
      </details>
    </div>
  );
}
