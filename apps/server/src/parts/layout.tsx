import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Person } from '../auth.ts';
import type { ServerContext } from '../context.ts';
import { urls } from '../urls.ts';

export interface Frame {
  ctx: ServerContext;
  person: Person | null;
  /** Path of this page: marks the menu and comes back after sign-in. */
  path: string;
  now: Date;
  /** The newest event before the page's data was read: the open page asks for what came after it. */
  since?: number;
}

const MENU: [name: string, href: string, under: RegExp][] = [
  ['Overview', urls.overview(), /^\/$/],
  ['Pairs', urls.pairs(), /^\/(pairs|compare)/],
  ['Bisects', urls.bisects(), /^\/bisects/],
  ['Reports', urls.reports(), /^\/(reports|r\/)/],
  ['History', urls.history(), /^\/history/],
  ['Hosts', urls.hosts(), /^\/hosts/],
  ['Trees', urls.trees(), /^\/(trees|jobs)/],
  ['Noise', urls.noise(), /^\/noise/],
  ['API', urls.api(), /^\/api/],
];

/** A whole page as text. `live` names the subjects whose events renew the page (`bisect:3`, or `*`). */
export function page(
  frame: Frame,
  props: { title: string; live?: string; script?: string; wide?: boolean; children: ComponentChildren },
): string {
  const { ctx, person, path } = frame;
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${props.title} · kdelta`}</title>
        <link rel="icon" href={ctx.assets.url('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={ctx.assets.url('style.css')} />
        <script src={ctx.assets.url('main.js')} type="module" />
        {props.script ? <script src={ctx.assets.url(props.script)} type="module" /> : null}
      </head>
      <body
        data-live={props.live}
        data-since={props.live ? frame.since : undefined}
        class={props.wide ? 'wide' : undefined}
      >
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="top">
          <a class="brand" href="/">
            k<b>Δ</b>elta
          </a>
          <nav aria-label="Pages">
            {MENU.map(([name, href, under]) => (
              <a href={href} aria-current={under.test(path.split('?', 1)[0]!) ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
          <form class="go" action="/go" role="search">
            <input
              name="q"
              type="search"
              placeholder="commit, pair, metric"
              aria-label="Go to commit, pair or metric"
            />
          </form>
          {person ? (
            <form class="who" method="post" action="/sign-out">
              <input type="hidden" name="_csrf" value={person.csrf ?? ''} />
              <span>{person.name}</span> <button type="submit">Sign out</button>
            </form>
          ) : (
            <a class="who" href={urls.signIn(path)}>
              Sign in
            </a>
          )}
        </header>
        <main id="main">{props.children}</main>
        <footer class="foot">
          <span>times are UTC</span>
          {props.live ? (
            <span id="live" aria-live="off">
              not live
            </span>
          ) : null}
        </footer>
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}
