import { type Frame, page } from '../../parts/layout.tsx';

export function renderSignIn(frame: Frame, props: { next: string; wrong?: string }): string {
  return page(frame, {
    title: 'Sign in',
    children: (
      <>
        <h1>Sign in</h1>
        <p>
          Paste a token. Who runs this kdelta makes one with <code>kdelta token make NAME --scope bisect,report</code>.
        </p>
        {props.wrong ? (
          <p class="failure" role="alert">
            {props.wrong}
          </p>
        ) : null}
        <form class="form" method="post" action="/sign-in">
          <label for="token">Token</label>
          <input id="token" name="token" type="password" required maxLength={200} autocomplete="current-password" />
          <input type="hidden" name="next" value={props.next} />
          <button type="submit" class="primary">
            Sign in
          </button>
        </form>
      </>
    ),
  });
}
