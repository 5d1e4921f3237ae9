import { listEvents } from '@kdelta/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const pause = (headers: Record<string, string>) =>
  lab.app.inject({ method: 'POST', url: `/api/v1/bisects/${lab.ids.bisects.running}/pause`, headers });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const revokeLast = () =>
  lab.store.pool.query('update api_token set revoked_at = now() where id = (select max(id) from api_token)');

async function signIn(token: string, next = '/bisects') {
  const payload = new URLSearchParams({ token, next }).toString();
  const answer = await lab.app.inject({ method: 'POST', url: '/sign-in', headers: FORM, payload });
  return { answer, cookie: answer.cookies[0] };
}

describe('tokens', () => {
  it('are refused, and the refusal logged, when missing, wrong, malformed, expired, revoked or too small', async () => {
    const expired = await lab.token(['bisect'], new Date(Date.now() - 1000));
    const small = await lab.token(['report']);
    const revoked = await lab.token(['bisect']);
    await revokeLast();
    const cases: [headers: Record<string, string>, status: number, code: string][] = [
      [{}, 401, 'KD_TOKEN_NEEDED'],
      [bearer(`kd_${'x'.repeat(43)}`), 401, 'KD_TOKEN_UNKNOWN'],
      [{ authorization: 'Basic eDp5' }, 401, 'KD_TOKEN_MALFORMED'],
      [bearer(expired), 401, 'KD_TOKEN_EXPIRED'],
      [bearer(revoked), 401, 'KD_TOKEN_REVOKED'],
      [bearer(small), 403, 'KD_SCOPE_MISSING'],
    ];
    for (const [headers, status, code] of cases) {
      const before = lab.logged.length;
      const answer = await pause(headers);
      expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(lab.logged.slice(before).some((line) => line.msg === 'refused' && line.code === code)).toBe(true);
    }
    const trail = await listEvents(lab.store.pool, { kind: 'access.refused', limit: 10 });
    expect(trail.length).toBeGreaterThan(0);
    const { rows } = await lab.store.pool.query('select state from bisect where id = $1', [lab.ids.bisects.running]);
    expect(rows[0].state).toBe('running');
  });

  it('are needed for everything that changes something, on pages and in the API', async () => {
    const { ids } = lab;
    const wish = { tree: 'linus', good: ids.shas[0], bad: ids.shas[5], testcase: '1', metric: ids.kpi };
    const api: Record<string, [url: string, payload: object]> = {
      startBisect: ['/api/v1/bisects', wish],
      actOnBisect: [`/api/v1/bisects/${ids.bisects.running}/cancel`, {}],
      extendBisect: [`/api/v1/bisects/${ids.bisects.running}/budget`, { boots: 5 }],
      approveReport: [`/api/v1/reports/${ids.reports.draft}/approve`, {}],
      rejectReport: [`/api/v1/reports/${ids.reports.draft}/reject`, { reason: 'noise' }],
      setReportRecipients: [`/api/v1/reports/${ids.reports.draft}/recipients`, { to: ['a@example.org'], cc: [] }],
      moveHost: ['/api/v1/hosts/qemu-icount/take-out', {}],
    };
    const document = (await lab.app.inject({ url: '/api/v1/openapi.json' })).json() as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const writing = Object.values(document.paths)
      .flatMap((methods) => Object.entries(methods))
      .filter(([method, { operationId }]) => method !== 'get' && operationId !== 'pokeTree');
    expect(writing.map(([, { operationId }]) => operationId).sort()).toEqual(Object.keys(api).sort());
    const methodOf = new Map(writing.map(([method, { operationId }]) => [operationId, method.toUpperCase()]));

    const forms: [url: string, payload: object][] = [
      ['/bisects', { ...wish, budget: 20, certainty: 0.95 }],
      [`/bisects/${ids.bisects.running}/cancel`, {}],
      [`/bisects/${ids.bisects.running}/budget`, { boots: '5' }],
      [`/r/${ids.reports.draft}/approve`, {}],
      [`/r/${ids.reports.draft}/reject`, { reason: 'noise' }],
      [`/r/${ids.reports.draft}/recipients`, { to: 'a@example.org', cc: '' }],
      ['/hosts/qemu-icount/take-out', {}],
    ];
    const all = [
      ...Object.entries(api).map(([id, [url, payload]]) => ({ method: methodOf.get(id)!, url, payload })),
      ...forms.map(([url, payload]) => ({ method: 'POST', url, payload })),
    ];
    const rowsNow = async () =>
      (
        await lab.store.pool.query(
          `select (select json_agg((id, state, budget) order by id) from bisect) b,
                  (select json_agg((id, state, "to") order by id) from report) r, (select json_agg((id, state) order by id) from host) h`,
        )
      ).rows;
    const before = await rowsNow();
    const scopeless = bearer(await lab.token([]));
    for (const request of all) {
      const ask = async (headers: Record<string, string>) =>
        (await lab.app.inject({ ...request, method: request.method as 'POST', headers })).statusCode;
      expect([await ask({}), await ask(scopeless)], `${request.method} ${request.url}`).toEqual([401, 403]);
    }
    expect(await rowsNow()).toEqual(before);
  });

  it('let their holder do what their scope says, and the audit trail says who', async () => {
    const token = await lab.token(['bisect']);
    expect((await pause(bearer(token))).statusCode).toBe(200);
    const [event] = await listEvents(lab.store.pool, { subject: `bisect:${lab.ids.bisects.running}`, limit: 1 });
    expect([event?.kind, event?.actor]).toEqual(['bisect.paused', 'token:test-bisect']);
    const url = `/bisects/${lab.ids.bisects.running}`;
    const page = await lab.app.inject({ url, headers: { accept: 'text/html' } });
    expect(page.body).toContain('token:test-bisect');
    const again = await lab.app.inject({ method: 'POST', url: `/api/v1${url}/resume`, headers: bearer(token) });
    expect(again.statusCode).toBe(200);
    expect(lab.queued.at(-1)).toEqual({ step: 'bisect', id: lab.ids.bisects.running });
  });

  it('start a bisect, and a wrong wish is answered with what is wrong in it', async () => {
    const token = await lab.token(['bisect']);
    const wish = { tree: 'linus', good: lab.ids.shas[0], bad: lab.ids.shas[5], testcase: '1', metric: lab.ids.kpi };
    const ask = (payload: object) =>
      lab.app.inject({ method: 'POST', url: '/api/v1/bisects', headers: bearer(token), payload });
    const started = await ask(wish);
    expect(started.statusCode).toBe(200);
    expect(lab.queued.at(-1)).toEqual({ step: 'bisect', id: started.json().id });
    for (const [change, code] of [
      [{ tree: 'linux' }, 'KD_TREE_UNKNOWN'],
      [{ metric: 'dbench.nothing' }, 'KD_METRIC_UNKNOWN'],
      [{ good: wish.bad, bad: wish.good }, 'KD_BISECT_NOT_ANCESTOR'],
      [{ good: 'zzzzzzz' }, 'KD_COMMIT_UNKNOWN'],
      [{ budget: 1e9 }, 'KD_REQUEST_INVALID'],
    ] as const) {
      const answer = await ask({ ...wish, ...change });
      expect([answer.statusCode, answer.json().code]).toEqual([400, code]);
    }
  });

  it('reject a report with a reason that the page shows', async () => {
    const token = await lab.token(['report']);
    const url = `/api/v1/reports/${lab.ids.reports.draft}`;
    const post = (action: string, payload: object) =>
      lab.app.inject({ method: 'POST', url: `${url}/${action}`, headers: bearer(token), payload });
    expect((await post('approve', {})).json().code).toBe('KD_REPORT_NO_SERVER');
    expect((await post('reject', { reason: 'noise of the lab' })).statusCode).toBe(200);
    const page = await lab.app.inject({ url: `/r/${lab.ids.reports.draft}`, headers: { accept: 'text/html' } });
    expect(page.body).toContain('noise of the lab');
    expect((await post('reject', { reason: 'again' })).statusCode).toBe(409);
  });

  it('never stand in the database as they are', async () => {
    const token = await lab.token(['admin']);
    const { rows } = await lab.store.pool.query('select t::text from api_token t');
    expect(rows.map((row) => row.t).join()).not.toContain(token);
  });
});

describe('signing in', () => {
  it('gives a strict same-site cookie that scripts cannot read and that is not the token', async () => {
    const token = await lab.token(['bisect']);
    const { answer, cookie } = await signIn(token);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/bisects']);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(cookie?.value).not.toContain(token.slice(3));
  });

  it('leads nowhere else than to this server', async () => {
    const token = await lab.token([]);
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)'])
      expect((await signIn(token, next)).answer.headers.location, next).toBe('/');
  });

  it('ends when the token is revoked, and a broken cookie counts as none', async () => {
    const token = await lab.token(['admin']);
    const { cookie } = await signIn(token);
    const page = async (value: string) =>
      (await lab.app.inject({ url: '/', headers: { accept: 'text/html', cookie: `kdelta_session=${value}` } })).body;
    expect(await page(cookie!.value)).toContain('Sign out');
    for (const broken of ['', 'x', '1.2.3', `${cookie!.value}x`, '999999999.1.%00', '%E0%A4%A', '1'.repeat(5000)])
      expect(await page(broken), broken.slice(0, 20)).toContain('Sign in');
    await revokeLast();
    expect(await page(cookie!.value)).toContain('Sign in');
  });

  it('does not let another site’s form act', async () => {
    const token = await lab.token(['bisect']);
    const { cookie } = await signIn(token);
    const cookies = { kdelta_session: cookie!.value };
    const url = `/bisects/${lab.ids.bisects.running}`;
    const page = await lab.app.inject({ url, cookies, headers: { accept: 'text/html' } });
    const csrf = /name="_csrf" value="([\w-]+)"/.exec(page.body)![1]!;
    const post = async (payload: string, more: Record<string, string>) => {
      const headers = { ...FORM, host: 'lab.example', ...more };
      return (await lab.app.inject({ method: 'POST', url: `${url}/budget`, cookies, headers, payload })).statusCode;
    };
    expect(await post('boots=5', {})).toBe(403);
    expect(await post(`boots=5&_csrf=${csrf}`, { origin: 'https://evil.example' })).toBe(403);
    expect(await post(`boots=5&_csrf=${csrf}`, { 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await post(`boots=5&_csrf=${csrf}`, { origin: 'http://lab.example', 'sec-fetch-site': 'same-origin' })).toBe(
      303,
    );
  });
});

describe('reading', () => {
  it('needs any token where the configuration says so, and sends browsers to the sign-in page', async () => {
    const closed = await openLab({ reading: 'token' });
    try {
      expect((await closed.app.inject({ url: '/api/v1/pairs' })).statusCode).toBe(401);
      const page = await closed.app.inject({ url: '/pairs?tree=linus', headers: { accept: 'text/html' } });
      expect([page.statusCode, page.headers.location]).toEqual([303, '/sign-in?next=%2Fpairs%3Ftree%3Dlinus']);
      const headers = bearer(await closed.token([]));
      expect((await closed.app.inject({ url: '/api/v1/pairs', headers })).statusCode).toBe(200);
    } finally {
      await closed.close();
    }
  });

  it('is limited per client', async () => {
    const limited = await openLab({ limits: { reads: 5, writes: 2 } });
    try {
      const codes: number[] = [];
      for (let i = 0; i < 7; i++) codes.push((await limited.app.inject({ url: '/api/v1/trees' })).statusCode);
      expect(codes).toEqual([200, 200, 200, 200, 200, 429, 429]);
      const last = await limited.app.inject({ url: '/api/v1/trees' });
      expect(last.json().code).toBe('KD_TOO_MANY_REQUESTS');
      expect(last.headers['retry-after']).toBeDefined();
    } finally {
      await limited.close();
    }
  });
});
