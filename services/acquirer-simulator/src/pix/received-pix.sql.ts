import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { queueCallbacks } from '#callbacks/callbacks.sql.ts';
import type { Notice } from '#callbacks/plan-callbacks.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';

import type { StoredPix } from './pix-resource.ts';

export type ChargeToPay = {
  txid: string;
  amountCents: bigint;
  pixKey: string;
  isExpired: boolean;
  /** Database time of the read. */
  readAt: Date;
};

/**
 * The charge, locked until the end of the transaction: payments and the removal of one charge take turns. The
 * journal's gate comes before the row lock, as it does in the removal, or the two could wait for each other.
 */
export async function lockChargeToPay(tx: Transaction, txid: string): Promise<ChargeToPay | null> {
  const rows = await tx.query<{
    txid: string;
    amount: bigint;
    pix_key: string;
    is_expired: boolean;
    read_at: Date;
  }>(
    named(
      'charge_lock_to_pay',
      sql`
        with ${JOURNAL_GATE}
        select
          txid, amount, pix_key, now() as read_at,
          created_at + make_interval(secs => expires_in_seconds) <= now() as is_expired
        from charges
        cross join gate
        where txid = ${txid}
        for update of charges`,
    ),
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    txid: row.txid,
    amountCents: row.amount,
    pixKey: row.pix_key,
    isExpired: row.is_expired,
    readAt: row.read_at,
  };
}

export async function findReceivedPix(
  db: Queryable,
  endToEndId: string,
): Promise<StoredPix | null> {
  const rows = await db.query<Row>(
    named(
      'received_pix_find',
      sql`
        select end_to_end_id, txid, pix_key, amount, paid_at
        from received_pix
        where end_to_end_id = ${endToEndId}`,
    ),
  );
  return rows[0] ? toStoredPix(rows[0]) : null;
}

/**
 * Records a Pix with its journal entry, settles the charge unless it was removed, and queues the notices: one
 * statement, which answers how many. A taken end-to-end id violates `received_pix_pkey`.
 */
export async function recordPix(
  tx: Transaction,
  pix: StoredPix,
  notices: readonly Notice[],
): Promise<number> {
  const rows = await tx.query<{ queued: bigint }>(
    named(
      'received_pix_record',
      sql`
        with ${JOURNAL_GATE},
        pix as (
          insert into received_pix (end_to_end_id, txid, pix_key, amount, paid_at)
          select
            ${pix.endToEndId}, ${pix.txid}, ${pix.pixKey},
            ${pix.amountCents}::bigint, ${pix.paidAt}::timestamptz
          from gate
          returning end_to_end_id, txid, amount
        ),
        settled as (
          update charges
          set status = 'CONCLUIDA', pays_at = null
          where txid = ${pix.txid} and status = 'ATIVA'
        ),
        entry as (
          insert into journal (kind, txid, end_to_end_id, amount)
          select 'paid', txid, end_to_end_id, amount
          from pix
        ),
        ${queueCallbacks(pix.pixKey, notices)}
        select count(*) as queued
        from queued`,
    ),
  );
  return Number(rows[0]?.queued ?? 0n);
}

/** Queues notices of a Pix that is known already, and answers how many. */
export async function repeatNotice(
  tx: Transaction,
  pix: StoredPix,
  notices: readonly Notice[],
): Promise<number> {
  const rows = await tx.query<{ queued: bigint }>(
    named(
      'received_pix_repeat_notice',
      sql`
        with ${queueCallbacks(pix.pixKey, notices)}
        select count(*) as queued
        from queued`,
    ),
  );
  return Number(rows[0]?.queued ?? 0n);
}

/** One page of what settled in a window, both ends included, oldest first. Index `received_pix_paid_at`. */
export async function listReceivedPix(
  db: Queryable,
  window: { from: Date; to: Date; offset: number; limit: number },
): Promise<{ pix: StoredPix[]; total: number }> {
  const [pages, counts] = await Promise.all([
    db.query<Row>(
      named(
        'received_pix_list',
        sql`
          select end_to_end_id, txid, pix_key, amount, paid_at
          from received_pix
          where paid_at between ${window.from} and ${window.to}
          order by paid_at, end_to_end_id
          limit ${window.limit}::int
          offset ${window.offset}::int`,
      ),
    ),
    db.query<{ total: bigint }>(
      named(
        'received_pix_count',
        sql`
          select count(*) as total
          from received_pix
          where paid_at between ${window.from} and ${window.to}`,
      ),
    ),
  ]);
  return { pix: pages.map(toStoredPix), total: Number(counts[0]?.total ?? 0n) };
}

function toStoredPix(row: Row): StoredPix {
  return {
    endToEndId: row.end_to_end_id,
    txid: row.txid,
    pixKey: row.pix_key,
    amountCents: row.amount,
    paidAt: row.paid_at,
  };
}

type Row = {
  end_to_end_id: string;
  txid: string;
  pix_key: string;
  amount: bigint;
  paid_at: Date;
};
