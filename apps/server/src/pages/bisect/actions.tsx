import type { BisectDetail } from '@kdelta/store';
import type { Person } from '../../auth.ts';
import { urls } from '../../urls.ts';

/** Buttons for who may: each is a form, so it works without JavaScript. */
export function BisectActions({ bisect, person }: { bisect: BisectDetail; person: Person | null }) {
  const may = person?.scopes.some((scope) => scope === 'bisect' || scope === 'admin');
  const actions: [action: string, text: string][] = [];
  if (['wanted', 'running', 'verifying'].includes(bisect.state)) actions.push(['pause', 'Pause']);
  if (bisect.state === 'paused') actions.push(['resume', 'Resume']);
  if (!['cancelled', 'failed', 'done'].includes(bisect.state)) actions.push(['cancel', 'Cancel']);
  if (!actions.length) return null;
  if (!may)
    return (
      <p class="actions quiet">
        <a href={urls.signIn(urls.bisect(bisect.id))}>Sign in</a> to pause, cancel or extend it.
      </p>
    );
  return (
    <div class="actions">
      {actions.map(([action, text]) => (
        <form method="post" action={`${urls.bisect(bisect.id)}/${action}`}>
          <input type="hidden" name="_csrf" value={person?.csrf ?? ''} />
          <button type="submit" class={action === 'cancel' ? 'danger' : undefined}>
            {text}
          </button>
        </form>
      ))}
      <form method="post" action={`${urls.bisect(bisect.id)}/budget`}>
        <input type="hidden" name="_csrf" value={person?.csrf ?? ''} />
        <label>
          more boots <input type="number" name="boots" min="1" max="500" value="20" />
        </label>
        <button type="submit">Add</button>
      </form>
    </div>
  );
}
