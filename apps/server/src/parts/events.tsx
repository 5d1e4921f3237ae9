import type { EventRow } from '@kdelta/store';
import { Empty, Time, visible } from './words.tsx';

/** Lines of the audit trail: when, who, what, why. */
export function EventList({ events, now }: { events: EventRow[]; now: Date }) {
  if (!events.length) return <Empty>Nothing yet.</Empty>;
  return (
    <ol class="events">
      {events.map((event) => (
        <li>
          <Time at={event.at} now={now} /> <b>{event.kind}</b> <span class="quiet">{event.actor}</span>{' '}
          <span>{describe(event.data)}</span>
        </li>
      ))}
    </ol>
  );
}

function describe(data: Record<string, unknown>): string {
  return visible(
    Object.entries(data)
      .filter(([, value]) => value !== null && typeof value !== 'object')
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ')
      .slice(0, 400),
  );
}
