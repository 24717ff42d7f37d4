import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Announcement } from '#callbacks/announce.ts';
import { queueCallbacks } from '#callbacks/callbacks.sql.ts';
import { JOURNAL_GATE, JOURNAL_MOMENT } from '#journal/journal.sql.ts';

import type { StoredPix } from './pix-resource.ts';
import { TARIFF } from './tariff.sql.ts';

export type ChargeToPay = {
  txid: string;
  amountCents: bigint;
  pixKey: string;
  isExpired: boolean;
  /** What the provider takes for a Pix now. */
  tariffCents: bigint | null;
  /** The provider's time of the read. */
  readAt: Date;
};

/**
 * The charge, locked until the end of the transaction: payments and the removal of one charge take turns. The
 * journal's gate comes before the row lock, as it does in the removal, or the two could wait for each other.
 */
export async function lockChargeToPay(tx: Transaction, txid: string): Promise<ChargeToPay | null> {
  const [charge = null] = await tx.query<ChargeToPay>(
    named(
      'charge_lock_to_pay',
      sql`
        with ${JOURNAL_GATE}
        select
          txid, amount as "amountCents", pix_key as "pixKey", now_() as "readAt",
          ${TARIFF} as "tariffCents",
          created_at + make_interval(secs => expires_in_seconds) <= now_() as "isExpired"
        from charges
        cross join gate
        where txid = ${txid}
        for update of charges`,
    ),
  );
  return charge;
}

/** Charges that somebody pays, in the order of the txids; null for one that was never issued. Primary key, no lock. */
export async function findChargesToPay(
  db: Queryable,
  txids: readonly string[],
): Promise<(ChargeToPay | null)[]> {
  const rows = await db.query<ChargeToPay>(
    named(
      'charges_find_to_pay',
      sql`
        with terms as materialized (select now_() as at, ${TARIFF} as tariff)
        select
          txid, amount as "amountCents", pix_key as "pixKey", at as "readAt", tariff as "tariffCents",
          created_at + make_interval(secs => expires_in_seconds) <= at as "isExpired"
        from charges
        cross join terms
        where txid = any(${txids}::text[])`,
    ),
  );
  const found = new Map(rows.map((row) => [row.txid, row]));
  return txids.map((txid) => found.get(txid) ?? null);
}

/** A Pix to be recorded, and how it is announced. */
export type NewArrival = { pix: StoredPix; announce: Announcement };

/**
 * Records Pix with their journal entries, settles the charges that they name unless they were removed, and queues the
 * notices: one statement, which answers how many for each. A Pix that is not the account's own touches nothing else.
 * A taken end-to-end id violates `received_pix_pkey`. Entries are numbered once the charges are settled: a removal of
 * one of them, which holds its row, is numbered before.
 */
export async function recordPixes(
  db: Queryable,
  arrivals: readonly NewArrival[],
): Promise<number[]> {
  const records = arrivals.map(toRecord);
  const paid = records.flatMap(({ txid, own }) => (txid !== null && own ? [txid] : []));
  const rows = await db.query<{ pixKey: string }>(
    named(
      'received_pix_record',
      sql`
        with ${JOURNAL_GATE},
        ${JOURNAL_MOMENT},
        pix as (
          insert into received_pix (end_to_end_id, txid, pix_key, amount, paid_at, tariff, own, recorded_at)
          select end_to_end_id, txid, pix_key, amount, paid_at, tariff, own, moment.at
          from json_to_recordset(${JSON.stringify(records)}::json) as arrival (
            end_to_end_id text, txid text, pix_key text, amount bigint, paid_at timestamptz, tariff bigint, own boolean
          )
          cross join moment
          returning end_to_end_id, txid, amount, own, recorded_at
        ),
        settled as (
          update charges
          set status = 'CONCLUIDA', pays_at = null
          from gate
          where txid = any(${paid}::text[]) and status = 'ATIVA'
          returning txid
        ),
        entry as (
          insert into journal (at, kind, txid, end_to_end_id, amount)
          select recorded_at, 'paid', txid, end_to_end_id, amount
          from (select count(*) from settled) as ended
          cross join pix
          where own
        ),
        ${queueCallbacks(arrivals.map(({ announce }) => announce))}
        select distinct pix_key as "pixKey"
        from queued`,
    ),
  );
  const called = new Set(rows.map(({ pixKey }) => pixKey));
  return arrivals.map(({ announce: { pixKey, notices } }) =>
    called.has(pixKey) ? notices.length : 0,
  );
}

function toRecord({ pix, announce }: NewArrival) {
  return {
    end_to_end_id: pix.endToEndId,
    txid: pix.txid,
    pix_key: pix.pixKey,
    amount: pix.amountCents.toString(),
    paid_at: pix.paidAt.toISOString(),
    tariff: pix.tariffCents === null ? null : pix.tariffCents.toString(),
    own: pix.pixKey === announce.pixKey,
  };
}

/** Queues notices of a Pix that is known already, and answers how many. */
export async function repeatNotice(db: Queryable, announce: Announcement): Promise<number> {
  const rows = await db.query<{ queued: bigint }>(
    named(
      'received_pix_repeat_notice',
      sql`
        with ${queueCallbacks([announce])}
        select count(*) as queued
        from queued`,
    ),
  );
  return Number(rows[0]?.queued ?? 0n);
}
