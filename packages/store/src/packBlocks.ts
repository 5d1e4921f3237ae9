import { deflateRawSync } from 'node:zlib';
import type { Store } from './connect.ts';
import { littleEndian, unpackValues } from './packValues.ts';
import { type Queryable, rows } from './query.ts';

const SIDE = 64;

/**
 * Packs blocks wherever 64 boots wait for it, at most `most` (some 80 ms each); returns how many. Blocks are derived:
 * whoever calls it, and when, changes nothing but how fast the history of a metric is.
 */
export async function packFullBlocks(store: Store, most = 20): Promise<number> {
  const full = await rows<{ layout_id: number; blocks: number }>(
    store.pool,
    'packFullBlocks',
    `select layout_id, (count(*) / ${SIDE})::int blocks from boot_matrix where block is null
      group by layout_id having count(*) >= ${SIDE} order by layout_id`,
  );
  let packed = 0;
  for (const { layout_id, blocks } of full)
    for (let i = 0; i < blocks && packed < most; i++) {
      const client = await store.pool.connect();
      try {
        await client.query('begin');
        if (await packBlock(client, layout_id)) packed++;
        await client.query('commit');
        client.release();
      } catch (error) {
        // The connection may be what broke: closing it ends the transaction either way.
        client.release(true);
        throw error;
      }
    }
  return packed;
}

/**
 * Copies 64 boots of one layout, that are in no block yet, into `metric_block` rows of 64 slots × 64 boots: the history of
 * any metric then reads one piece per 64 boots (store study, G2). Run it in a transaction. Returns false when there are
 * fewer than 64 such boots. Every group is padded with NaN to 64 × 64, so that a layout that grows can't shift it.
 */
export async function packBlock(tx: Queryable, layoutId: number): Promise<boolean> {
  await rows(tx, 'packBlock-lock', 'select pg_advisory_xact_lock(7, $1)', [layoutId]);
  const boots = await rows<{ boot_id: number; values: Buffer }>(
    tx,
    'packBlock-boots',
    `select boot_id, values from boot_matrix where layout_id = $1 and block is null order by boot_id limit ${SIDE} for update`,
    [layoutId],
  );
  if (boots.length < SIDE) return false;
  const matrices = boots.map((boot) => unpackValues(boot.values));
  const slots = Math.max(...matrices.map((values) => values.length));
  const groups: number[] = [];
  const packed: Buffer[] = [];
  for (let group = 0; group * SIDE < slots; group++) {
    const cells = Array.from({ length: SIDE }, (_, slot) =>
      Float64Array.from(matrices, (values) => values[group * SIDE + slot] ?? Number.NaN),
    );
    groups.push(group);
    packed.push(packGroup(cells));
  }
  const [{ block } = { block: 0 }] = await rows<{ block: number }>(
    tx,
    'packBlock-block',
    `insert into matrix_block (layout_id, block, boot_ids)
     select $1, coalesce(max(block) + 1, 0), $2::int[] from matrix_block where layout_id = $1 returning block`,
    [layoutId, boots.map((boot) => boot.boot_id)],
  );
  await rows(
    tx,
    'packBlock-groups',
    `insert into metric_block (layout_id, grp, block, values)
     select $1, g, $2, v from unnest($3::smallint[], $4::bytea[]) u(g, v)`,
    [layoutId, block, groups, packed],
  );
  await rows(tx, 'packBlock-mark', 'update boot_matrix set block = $1 where boot_id = any($2)', [
    block,
    boots.map((boot) => boot.boot_id),
  ]);
  return true;
}

/**
 * 64 slots of 64 boots: 65 offsets (uint16, little-endian), then each slot's float64s deflated by themselves. A history
 * wants one slot of each block: Postgres cuts it out (`slotOfBlock`), and only half a kilobyte is inflated instead of 32.
 */
function packGroup(cells: Float64Array[]): Buffer {
  // The smallest window that holds 512 bytes: setting up a deflater costs more than its work here.
  const pieces = cells.map((values) => deflateRawSync(littleEndian(values), { level: 6, windowBits: 9, memLevel: 4 }));
  const offsets = Buffer.alloc((pieces.length + 1) * 2);
  let at = offsets.length;
  pieces.forEach((piece, i) => {
    offsets.writeUInt16LE(at, i * 2);
    at += piece.length;
  });
  offsets.writeUInt16LE(at, pieces.length * 2);
  return Buffer.concat([offsets, ...pieces]);
}

/** SQL for the deflated values of a slot (an expression, 0…63) in `metric_block.values` of the row `m`. */
export const slotOfBlock = (slot: string): string =>
  `(select substr(m.values, 1 + from_, to_ - from_)
      from (select get_byte(h, 0) + (get_byte(h, 1) << 8) from_, get_byte(h, 2) + (get_byte(h, 3) << 8) to_
              from (select substr(m.values, 1 + 2 * ${slot}, 4) h) x) y)`;
