import { boot, type Db, insertEvent } from '@kdelta/store';
import { and, eq, max, ne, sql } from 'drizzle-orm';

/**
 * Starts a pair's block again on a host that isn't chosen yet: what one host has done of it can't be compared with boots
 * elsewhere, so that part becomes history and the rest is cancelled. `lost` is the boot that its host has lost: it stays in
 * the pair, and the one that takes its place is its repetition.
 */
export async function restartBlock(tx: Db, pairId: number, block: number, lost?: { id: number; seq: number }) {
  const ofBlock = and(eq(boot.pairId, pairId), eq(boot.block, block));
  const mates = await tx.select().from(boot).where(ofBlock).orderBy(boot.seq, boot.id);
  const seqs = new Map(mates.map((mate) => [mate.seq, mate]));
  await tx
    .update(boot)
    .set({ pairId: null })
    .where(and(ofBlock, ne(boot.state, 'wanted'), lost && ne(boot.id, lost.id)));
  await tx
    .update(boot)
    .set({ state: 'cancelled', finishedAt: new Date() })
    .where(and(ofBlock, eq(boot.state, 'wanted')));
  const [last] = await tx
    .select({ block: max(boot.block) })
    .from(boot)
    .where(eq(boot.pairId, pairId));
  const nextBlock = (last?.block ?? block) + 1;
  await tx.insert(boot).values(
    [...seqs.values()].map(({ kernelId, testcaseId, savedAs, priority, seq }) => ({
      kernelId,
      testcaseId,
      savedAs,
      priority,
      pairId,
      block: nextBlock,
      seq,
      retryOf: lost && seq === lost.seq ? lost.id : null,
    })),
  );
}

/**
 * Boots that wait for a host which was taken out (maintenance, quarantine) while another of its group is in go there; a
 * pair's block that this one has begun starts again. Returns how many boots no longer wait for it.
 */
export async function leaveOutHosts(db: Db): Promise<number> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ id: number; pair_id: number | null; block: number; host: string }>(sql`
      select b.id, b.pair_id, b.block, h.name host
        from boot b join host h on h.id = b.host_id
       where b.state = 'wanted' and b.claim is null and b.work_dir is null
         and h.state in ('quarantined', 'maintenance')
         and exists (select 1 from host o where o.tbox_group = h.tbox_group and o.state not in ('quarantined', 'maintenance'))
         and not exists (select 1 from boot m where m.pair_id = b.pair_id and m.block = b.block
                          and m.state in ('claimed', 'booting', 'running', 'collecting'))
       order by b.id for update of b`);
    const restarted = new Set<string>();
    for (const row of rows) {
      const { pair_id: pairId, block } = row;
      if (pairId === null) {
        await tx.update(boot).set({ hostId: null }).where(eq(boot.id, row.id));
      } else if (!restarted.has(`${pairId} ${block}`)) {
        restarted.add(`${pairId} ${block}`);
        await restartBlock(tx, pairId, block);
      }
      await insertEvent(tx, { kind: 'boot.moved', subject: `boot:${row.id}`, data: { from: row.host } });
    }
    return rows.length;
  });
}
