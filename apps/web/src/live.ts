/**
 * Keeps an open page fresh: an event about its subject makes the page fetch itself again and swap its content. The server
 * stays the only one that draws; a page without JavaScript shows the same after a reload.
 */
export function followEvents(): void {
  const subject = document.body.dataset.live;
  if (!subject) return;
  const badge = document.getElementById('live');
  const say = (text: string) => {
    if (badge) badge.textContent = text;
  };
  let pending = false;
  let running = false;

  const refresh = async (): Promise<void> => {
    if (running) {
      pending = true;
      return;
    }
    running = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      if (answer.ok) swap(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    } catch {
      say('connection lost');
    }
    running = false;
    if (pending) {
      pending = false;
      // At most four times a second, however many events come.
      setTimeout(refresh, 250);
    }
  };

  const since = document.body.dataset.since ?? '';
  const source = new EventSource(
    `/api/v1/events/stream?subject=${encodeURIComponent(subject)}${since ? `&since=${since}` : ''}`,
  );
  source.onopen = () => say('live');
  source.onerror = () => say('reconnecting…');
  source.addEventListener('change', () => void refresh());
}

function swap(fresh: Document): void {
  const main = document.querySelector('main');
  const next = fresh.querySelector('main');
  if (!main || !next) return;
  // Someone who types or has a menu open is not interrupted.
  const active = document.activeElement;
  if (active && main.contains(active) && /^(INPUT|SELECT|TEXTAREA)$/.test(active.tagName)) return;
  const focus =
    active && main.contains(active) && active instanceof HTMLAnchorElement ? active.getAttribute('href') : null;
  const open = [...main.querySelectorAll('details')].map((details) => details.open);
  main.replaceChildren(...next.childNodes);
  [...main.querySelectorAll('details')].forEach((details, i) => {
    if (open[i]) details.open = true;
  });
  if (focus) main.querySelector<HTMLElement>(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  document.title = fresh.title;
}
