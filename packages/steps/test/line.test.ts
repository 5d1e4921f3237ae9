import { buildRegistry } from '@kdelta/matrix';
import { bisect, bisectProbe, boot, event, kernel, outbox, report, testcase } from '@kdelta/store';
import { eq } from 'drizzle-orm';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { approveReport, rejectReport } from '../src/decideReport.ts';
import { sendStep } from '../src/send.ts';
import { createTestContext, type TestContext } from './context.ts';
import { type LabCommit, openLab, pairOf } from './lab.ts';

// From judged pair to sent mail on a real database and SMTP server; builds and boots are lab.ts's.

const received: { raw: Buffer; to: string[] }[] = [];
let smtp: SMTPServer;
let smtpUrl: string;
let ctx: TestContext;
let answer: () => Error | null = () => null;

beforeAll(async () => {
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (c: Buffer) => chunks.push(c));
      stream.on('end', () => {
        const error = answer();
        if (!error) received.push({ raw: Buffer.concat(chunks), to: session.envelope.rcptTo.map((r) => r.address) });
        done(error);
      });
    },
  });
  smtp.on('error', () => {});
  await new Promise<void>((ready) => smtp.listen(0, '127.0.0.1', ready));
  smtpUrl = `smtp://127.0.0.1:${(smtp.server.address() as { port: number }).port}`;
});
afterAll(() => new Promise<void>((done) => smtp.close(done)));

beforeEach(async () => {
  received.length = 0;
  answer = () => null;
  ctx = await createTestContext({
    metrics: buildRegistry([
      { name: 'pft', metrics: { faults_per_sec_per_cpu: { better: 'higher', kpi: true, kind: 'performance' } } },
    ]),
  });
  ctx.config.mail = { smtp: smtpUrl, from: 'kdelta bot <kdelta@bot.example.org>' };
});
afterEach(async () => {
  ctx.stop();
  await ctx.database.drop();
});

/** Twelve commits; the eighth loses 8 %, the fifth doesn't build, the seventh changes comments only. */
function range(change: (commits: LabCommit[]) => void = () => {}): LabCommit[] {
  const commits: LabCommit[] = Array.from({ length: 12 }, (_, i) => ({
    subject: i === 7 ? 'mm: zero the page twice' : `lib: tidy ${i}`,
    author: `Person ${i} <p${i}@example.org>`,
    level: i >= 7 ? 92_000 : 100_000,
  }));
  commits[4]!.builds = false;
  commits[6]!.commentOnly = true;
  change(commits);
  return commits;
}

const auto = { mode: 'auto' as const, allow: ['*@example.org', '*@lists.example.org'], cc: ['mm@lists.example.org'] };

test('a regression over twelve commits is bisected, verified and mailed to its author and the list, once', async () => {
  const lab = await openLab(ctx, range(), auto);
  const pairId = await lab.plan(0, 11);
  await lab.settle();

  const judged = await pairOf(ctx, pairId);
  expect(judged).toMatchObject({ state: 'judged', verdict: 'regression' });
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: lab.shas[7] });
  expect(judged.bisectId).toBe(found!.id);

  const [written] = await ctx.db.select().from(report);
  expect(written).toMatchObject({
    state: 'sent',
    culpritSha: lab.shas[7],
    to: ['p7@example.org'],
    cc: ['mm@lists.example.org'],
    pairId: found!.verifyPairId,
  });
  expect(written!.subject).toMatch(/^\[demo:main\] \[mm\] 0808080808: pft\.faults_per_sec_per_cpu 8\.0% regression$/);

  expect(received.map((m) => m.to)).toEqual([['p7@example.org'], ['mm@lists.example.org']]);
  const [people, list] = await Promise.all(received.map((m) => simpleParser(m.raw)));
  expect(people!.messageId).toBe(list!.messageId);
  expect(people!.attachments.map((a) => a.filename)).toEqual([
    'reproduce',
    'job.yaml',
    'kconfig.gz',
    'matrix-parent.json',
    'matrix-culprit.json',
  ]);
  expect(list!.attachments).toEqual([]);
  // 100,000 → 92,000 is −8 %; the first row of the table is the KPI.
  expect(people!.text).toMatch(/\| +\\\n +\d+ ± {2}0% +-8\.0% +92\d+ ± {2}0% {2}pft\.faults_per_sec_per_cpu\n/);

  await lab.settle();
  expect(received).toHaveLength(2);
});

test('the search steps around what does not build, and keeps each probe', async () => {
  const lab = await openLab(ctx, range(), auto);
  await lab.plan(0, 11);
  await lab.settle();
  const probes = await ctx.db.select().from(bisectProbe);
  expect(probes.length).toBeGreaterThan(0);
  for (const p of probes) {
    expect(p.state).not.toBe('wanted');
    expect(p.posteriorBefore).not.toBeNull();
    expect(p.posteriorAfter).not.toBeNull();
  }
  const boots = await ctx.db.select().from(boot);
  const probed = boots.filter((b) => b.bisectId !== null);
  // log2(11) is 3.5: a handful of boots beyond the pair's, far from one per commit and side.
  expect(probed.filter((b) => b.state === 'done').length).toBeLessThanOrEqual(8);
});

test('a commit that panics is stepped around', async () => {
  const lab = await openLab(
    ctx,
    range((c) => {
      c[9]!.boots = false;
      c[3]!.boots = false;
    }),
    auto,
  );
  await lab.plan(0, 11);
  await lab.settle();
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: lab.shas[7] });
});

test('kernels are built ahead of need: after the first probe none waits for a builder, and few are built in vain', async () => {
  const lab = await openLab(
    ctx,
    Array.from({ length: 40 }, (_, i) => ({
      subject: `lib: tidy ${i}`,
      author: `Person ${i} <p${i}@example.org>`,
      level: i >= 22 ? 92_000 : 100_000,
    })),
    auto,
  );
  await lab.plan(0, 39);
  await lab.settle();
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: lab.shas[22] });
  const probes = await ctx.db
    .select({ probe: bisectProbe, builtAt: kernel.builtAt })
    .from(bisectProbe)
    .innerJoin(kernel, eq(kernel.id, bisectProbe.kernelId))
    .orderBy(bisectProbe.seq);
  const inside = probes.filter(({ probe }) => probe.why.startsWith('probe'));
  expect(inside.length).toBeGreaterThan(3);
  for (const { probe, builtAt } of inside.slice(1)) expect(builtAt!.getTime()).toBeLessThanOrEqual(probe.at.getTime());
  const kernels = await ctx.db.select().from(kernel);
  expect(kernels.every((k) => k.state === 'built')).toBe(true);
  // Both answers of each probe have their kernel: at most twice those that were needed.
  expect(kernels.length).toBeLessThanOrEqual(2 * new Set(probes.map(({ probe }) => probe.sha)).size + 4);
});

test('nothing is built beside guests of this machine whose time is measured', async () => {
  const lab = await openLab(ctx, range(), auto);
  await ctx.db.update(testcase).set({ deterministic: false });
  await lab.plan(0, 11);
  await lab.settle();
  expect((await ctx.db.select().from(bisect))[0]).toMatchObject({ state: 'done', culpritSha: lab.shas[7] });
  expect((await ctx.db.select().from(kernel)).every((k) => k.priority >= 0)).toBe(true);
});

test('kernels asked for ahead give way to what is needed, and are forgotten when the search turns away', async () => {
  const lab = await openLab(
    ctx,
    Array.from({ length: 40 }, (_, i) => ({
      subject: `lib: tidy ${i}`,
      author: `Person ${i} <p${i}@example.org>`,
      level: i >= 22 ? 92_000 : 100_000,
    })),
    auto,
  );
  // A builder that is slow: what nobody waits for is not built.
  await lab.plan(0, 39);
  await lab.settle({ buildAhead: false });
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: lab.shas[22] });
  const probes = await ctx.db.select().from(bisectProbe);
  const left = (await ctx.db.select().from(kernel)).filter((k) => k.state !== 'built');
  expect(left.every((k) => k.priority < 0)).toBe(true);
  // Asked for by the last probe and the verification only.
  expect(left.length).toBeLessThanOrEqual(2);
  expect(probes.length).toBeGreaterThan(3);
});

test('where the culprit reverts cleanly its revert on top of bad is booted, and the mail says what it showed', async () => {
  const lab = await openLab(ctx, range(), auto, 0.0004, { revertLevel: 100_000 });
  await lab.plan(0, 11);
  await lab.settle();
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: lab.shas[7] });
  const { revert } = found!.result as { revert: { sha: string; values: number[]; oldLevel: number } };
  expect(lab.shas).not.toContain(revert.sha);
  expect(revert.values).toHaveLength(1);
  expect(revert.oldLevel).toBeGreaterThan(0.95);
  expect(received).toHaveLength(2);
  const people = await simpleParser(received[0]!.raw);
  expect(people.text).toContain('with the culprit reverted shows the old level (1 boot)');
});

test('a revert that keeps the new level holds the mail back', async () => {
  const lab = await openLab(ctx, range(), auto, 0.0004, { revertLevel: 92_000 });
  await lab.plan(0, 11);
  await lab.settle();
  const [found] = await ctx.db.select().from(bisect);
  expect((found!.result as { revert: { oldLevel: number } }).revert.oldLevel).toBeLessThan(0.05);
  expect((await ctx.db.select().from(report))[0]).toMatchObject({
    state: 'draft',
    note: expect.stringContaining('does not bring the old level back'),
  });
  expect(received).toEqual([]);
});

test('a revert that does not build is said to, and holds nothing up', async () => {
  const lab = await openLab(ctx, range(), auto, 0.0004, { revertLevel: null });
  await lab.plan(0, 11);
  await lab.settle();
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: lab.shas[7] });
  expect(found!.result).toMatchObject({
    revert: { values: [], oldLevel: null },
    reason: 'certainty reached; bad with the culprit reverted gave no number',
  });
  expect(received).toHaveLength(2);
});

test('a culprit that untestable commits hide is not named, and nobody is mailed', async () => {
  // The fifth doesn't build, the sixth and its comment-only child panic: the step may be in the fifth, sixth or eighth,
  // not in the seventh, whose image is the sixth's.
  const lab = await openLab(
    ctx,
    range((c) => {
      c[5]!.boots = false;
    }),
    auto,
  );
  await lab.plan(0, 11);
  await lab.settle();
  const [found] = await ctx.db.select().from(bisect);
  expect(found).toMatchObject({ state: 'done', culpritSha: null });
  const { credible } = found!.result as { credible: { sha: string }[] };
  expect(credible.map((c) => c.sha).sort()).toEqual([4, 5, 7].map((i) => lab.shas[i]));
  expect(received).toEqual([]);
});

test('a regression over one commit is reported without a bisect', async () => {
  const lab = await openLab(ctx, range(), auto);
  // The comment-only commit before the culprit is its parent.
  await lab.plan(6, 7);
  await lab.settle();
  expect(await ctx.db.select().from(bisect)).toEqual([]);
  expect((await ctx.db.select().from(report))[0]).toMatchObject({ state: 'sent', culpritSha: lab.shas[7] });
});

test('without a regression nothing is bisected and no mail is made', async () => {
  const lab = await openLab(
    ctx,
    range((c) => {
      for (const commit of c) commit.level = 100_000;
    }),
    auto,
  );
  const pairId = await lab.plan(0, 11);
  await lab.settle();
  expect(await pairOf(ctx, pairId)).toMatchObject({ state: 'judged', verdict: 'same' });
  expect(await ctx.db.select().from(bisect)).toEqual([]);
  expect(await ctx.db.select().from(report)).toEqual([]);
  expect(received).toEqual([]);
});

test('an inconclusive KPI gets more boots up to the job’s limit, then it is said', async () => {
  const lab = await openLab(
    ctx,
    range((c) => {
      for (const commit of c) commit.level = 100_000;
    }),
    auto,
    0.1,
  );
  const pairId = await lab.plan(0, 11);
  await lab.settle();
  expect(await pairOf(ctx, pairId)).toMatchObject({ state: 'judged', verdict: 'inconclusive', looks: 3 });
  // 3 + 3 at first, at most 9 + 9: three blocks of six.
  const boots = await ctx.db.select().from(boot).where(eq(boot.pairId, pairId));
  expect(boots).toHaveLength(18);
  expect(new Set(boots.map((b) => b.block)).size).toBe(3);
});

test('by default a report is a draft, and with an empty allow-list it can reach nobody', async () => {
  const lab = await openLab(ctx, range(), {});
  await lab.plan(6, 7);
  await lab.settle();
  const [draft] = await ctx.db.select().from(report);
  expect(draft).toMatchObject({ state: 'draft', to: [] });
  expect(draft!.dropped).toEqual([{ address: 'p7@example.org', why: 'outside mail.allow of the tree' }]);
  await expect(approveReport(ctx, draft!.id, 'mae')).rejects.toThrow('KD_REPORT_NOBODY');
  expect(received).toEqual([]);
});

test('an approved draft is sent and says who approved it; a rejected one is not sent', async () => {
  const lab = await openLab(ctx, range(), { allow: ['*@example.org'] });
  await lab.plan(6, 7);
  await lab.settle();
  const [draft] = await ctx.db.select().from(report);
  expect(draft!.state).toBe('draft');
  await approveReport(ctx, draft!.id, 'mae');
  await expect(rejectReport(ctx, draft!.id, 'mae', 'no')).rejects.toThrow('KD_REPORT_STATE');
  await lab.settle();
  expect((await ctx.db.select().from(report))[0]!.state).toBe('sent');
  expect(received).toHaveLength(1);
  expect(received[0]!.raw.toString()).toContain('Read and approved by mae before it was sent.');
});

test('a draft goes to the addresses that a person gave it, if the tree allows them', async () => {
  const lab = await openLab(ctx, range(), { allow: ['*@example.org'] });
  await lab.plan(6, 7);
  await lab.settle();
  const [draft] = await ctx.db.select().from(report);
  await ctx.db.update(report).set({ to: ['v@example.net'] });
  await expect(approveReport(ctx, draft!.id, 'mae')).rejects.toThrow('KD_REPORT_NOT_ALLOWED');
  await ctx.db.update(report).set({ to: ['The Maintainer <maintainer@example.org>'] });
  await approveReport(ctx, draft!.id, 'mae');
  await lab.settle();
  expect(received.map((m) => m.to)).toEqual([['maintainer@example.org']]);
});

test('a mail found in sending by another is unknown and never sent again', async () => {
  const lab = await openLab(ctx, range(), { allow: ['*@example.org'] });
  await lab.plan(6, 7);
  await lab.settle();
  const [draft] = await ctx.db.select().from(report);
  await approveReport(ctx, draft!.id, 'mae');
  // A worker that was killed between the server's 250 and its own commit left the row like this.
  await ctx.db.update(outbox).set({ state: 'sending', claim: crypto.randomUUID(), claimUntil: new Date(0) });
  // A database that has just started gives holders of claims some time to come back first.
  await vi.waitFor(
    async () => {
      await sendStep.takeBack(ctx.db);
      expect((await ctx.db.select().from(outbox))[0]!.state).toBe('unknown');
    },
    { timeout: 90_000, interval: 500 },
  );
  await lab.settle();
  expect((await ctx.db.select().from(report))[0]!.state).toBe('unknown');
  const told = await ctx.db.select().from(event).where(eq(event.kind, 'mail.unknown'));
  expect(told.map((e) => e.subject)).toEqual([`report:${draft!.id}`]);
  expect(received).toEqual([]);
}, 120_000);

test('a greylisted mail goes out later with the same bytes', async () => {
  let first = true;
  answer = () => {
    if (!first) return null;
    first = false;
    return Object.assign(new Error('come back later'), { responseCode: 451 });
  };
  const lab = await openLab(ctx, range(), { ...auto, cc: [] });
  await lab.plan(6, 7);
  await lab.settle();
  const [waiting] = await ctx.db.select().from(outbox);
  expect(waiting!.state).toBe('queued');
  await ctx.db
    .update(outbox)
    .set({ nextTryAt: new Date(0) })
    .where(eq(outbox.id, waiting!.id));
  await lab.settle();
  expect(received).toHaveLength(1);
  expect(received[0]!.raw.equals(waiting!.raw)).toBe(true);
});

test('a second regression of the same culprit adds no second report', async () => {
  const lab = await openLab(ctx, range(), { ...auto, cc: [] });
  await lab.plan(6, 7);
  await lab.settle();
  await lab.plan(0, 11);
  await lab.settle();
  expect(await ctx.db.select().from(report)).toHaveLength(1);
  expect(received).toHaveLength(1);
  expect(await ctx.db.select().from(kernel)).not.toEqual([]);
});
