/** Keys: `/` search, `j` and `k` next and previous row, `Enter` opens it, `[` and `]` previous and next page or pair. */
export function hotkeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (event.key === '/') {
      const search =
        document.querySelector<HTMLElement>('main [data-hotkey="/"]') ?? document.querySelector('.go input');
      (search as HTMLElement | null)?.focus();
      event.preventDefault();
    }
    if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1);
    if (event.key === '[') document.querySelector<HTMLAnchorElement>('main a[rel="prev"]')?.click();
    if (event.key === ']') document.querySelector<HTMLAnchorElement>('main a[rel="next"]')?.click();
  });
}

function moveRow(step: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main tbody tr > * > a:first-of-type')];
  const rows = [...new Map(links.map((link) => [link.closest('tr'), link])).values()];
  if (!rows.length) return;
  const at = rows.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
