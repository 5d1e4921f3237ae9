/** A link with `data-copy` puts what it leads to on the clipboard; without JavaScript, or without https, it is a link. */
export function copyLinks(): void {
  if (!navigator.clipboard) return;
  document.addEventListener('click', (event) => {
    const link = (event.target as HTMLElement).closest<HTMLAnchorElement>('a[data-copy]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const name = link.dataset.copy ?? '';
    copy(link.href).then(
      () => say(link, 'copied'),
      () => say(link, 'not copied'),
    );
    setTimeout(() => say(link, name), 2000);
  });
}

async function copy(href: string): Promise<void> {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  await navigator.clipboard.writeText(await answer.text());
}

function say(link: HTMLAnchorElement, text: string): void {
  link.textContent = text;
}
