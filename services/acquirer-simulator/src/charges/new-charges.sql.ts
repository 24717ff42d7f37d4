import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import { JOURNAL_GATE, JOURNAL_MOMENT } from '#journal/journal.sql.ts';

import type { StoredCharge } from './charge-resource.ts';

export type NewCharge = Omit<
  StoredCharge,
  'number' | 'status' | 'revision' | 'createdAt' | 'received'
> & {
  /** When it pays itself; null where somebody has to pay. */
  paysInMs: number | null;
};

type IssuedCharge = { number: bigint; createdAt: Date };

/** Charges that are issued together share a statement and its commit. Null where the txid is taken. */
export type NewCharges = WriteBatcher<NewCharge, IssuedCharge | null>;

export function createNewCharges(db: Queryable): NewCharges {
  return createWriteBatcher((charges) => insertCharges(db, charges));
}

/**
 * Stores charges and their journal entries in one statement; null for one whose txid is taken, also by one before it.
 */
async function insertCharges(
  db: Queryable,
  charges: readonly NewCharge[],
): Promise<(IssuedCharge | null)[]> {
  const rows = await db.query<IssuedCharge & { location: string }>(
    named(
      'charges_insert',
      sql`
        with ${JOURNAL_GATE},
        ${JOURNAL_MOMENT},
        stored as (
          insert into charges (
            txid, amount, pix_key, expires_in_seconds, location, br_code,
            debtor, payer_request, additional_info, created_at, pays_at
          )
          select
            txid, amount, pix_key, expires_in_seconds, location, br_code,
            debtor, payer_request, additional_info, moment.at, moment.at + pays_in_ms * interval '1 ms'
          from json_to_recordset(${JSON.stringify(charges.map(toRecord))}::json) as charge (
            txid text, amount bigint, pix_key text, expires_in_seconds integer, location text, br_code text,
            debtor jsonb, payer_request text, additional_info jsonb, pays_in_ms integer
          )
          cross join moment
          on conflict (txid) do nothing
          returning txid, amount, number, location, created_at
        ),
        entry as (
          insert into journal (at, kind, txid, amount)
          select created_at, 'issued', txid, amount
          from stored
          order by number
        )
        select number, location, created_at as "createdAt"
        from stored`,
    ),
  );
  // By the location, which no two attempts share: two that came together may have one txid.
  const stored = new Map(rows.map(({ location, ...charge }) => [location, charge]));
  return charges.map(({ location }) => stored.get(location) ?? null);
}

function toRecord(charge: NewCharge): object {
  return {
    txid: charge.txid,
    amount: charge.amountCents.toString(),
    pix_key: charge.pixKey,
    expires_in_seconds: charge.expiresInSeconds,
    location: charge.location,
    br_code: charge.brCode,
    debtor: charge.debtor,
    payer_request: charge.payerRequest,
    additional_info: charge.additionalInfo,
    pays_in_ms: charge.paysInMs,
  };
}
