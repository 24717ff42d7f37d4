import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { appendBatch } from '@pixmesh/postgres/batched-messages';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import { byId, type ChangeOfCharge } from '#charge/by-id.ts';
import type { ChargeRow } from '#charge/charge-row.ts';

import type { Disposition } from './decide-received.ts';
import { receivedCommands } from './received-commands.ts';

/** What is recorded of a Pix of a charge. */
export type ReceivedRecord = {
  pix: ReceivedPix;
  disposition: Disposition;
  /** Of the status check under way, where this is the last that it has to do: it ends, and no other is due. */
  endedLease?: string;
};

/** A record on its way to the database, with the trace that asked for it. */
type Receipt = ReceivedRecord & { charge: ChargeRow; traceparent: string | null };

/** Receipts that come together share a statement and its commit. False where nothing was written. */
export type ChargeReceipts = WriteBatcher<Receipt, boolean>;

export function createChargeReceipts(db: Queryable): ChargeReceipts {
  return createWriteBatcher((receipts) => insertReceipts(db, receipts));
}

/**
 * Inserts received Pix once per end-to-end id, each together with its ledger commands; a Pix that pays its charge
 * becomes the charge's `accepted_e2e` in the same statement. Returns for each whether it was recorded: nothing of it is
 * written when the charge has moved since it was read, or the Pix is recorded already. That is a scalar select: `not
 * exists` becomes a join, which may read the whole table.
 */
async function insertReceipts(db: Queryable, receipts: readonly Receipt[]): Promise<boolean[]> {
  const rows = await db.query<{ place: number }>(
    named(
      'record_received_pix',
      sql`
        with change as (
          select *
          from json_to_recordset(${JSON.stringify(byId(receipts.map(toChange)))}::json) as change (
            place int, id uuid, version int, cause text, end_to_end_id text, amount bigint, paid_at timestamptz,
            disposition text, reason text, accepted_e2e text, ended_lease uuid
          )
        ),
        moved as (
          update charges
          set accepted_e2e = coalesce(change.accepted_e2e, charges.accepted_e2e),
              version = charges.version + 1,
              lease_token = case when lease_token is distinct from ended_lease then lease_token end,
              lease_until = case when lease_token is distinct from ended_lease then lease_until end,
              checks = case when lease_token = ended_lease then checks + 1 else checks end,
              check_at = case when lease_token = ended_lease and check_at > '-infinity' then null else check_at end,
              last_check_at = case when lease_token = ended_lease then now() else last_check_at end,
              last_check_answer = case when lease_token = ended_lease then 'found' else last_check_answer end
          from change
          where charges.id = any(${receipts.map(({ charge }) => charge.id)}::uuid[])
            and charges.id = change.id and charges.version = change.version
            and (select end_to_end_id from received_pix where received_pix.end_to_end_id = change.end_to_end_id) is null
          returning
            change.place, charges.id, account_id, charges.version, status, change.cause, change.end_to_end_id,
            change.amount, change.paid_at, change.disposition, change.reason
        ),
        history as (
          insert into charge_history (charge_id, version, from_status, to_status, cause, detail)
          select id, version, status, status, cause, end_to_end_id from moved
        ),
        recorded as (
          insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition, reason)
          select end_to_end_id, id, account_id, amount, paid_at, disposition, reason from moved
        ),
        ${appendBatch(sql`select place from moved`, receipts.map(toMessages))}
        select place from moved`,
    ),
  );
  const recorded = new Set(rows.map(({ place }) => place));
  return receipts.map((_receipt, place) => recorded.has(place));
}

function toChange(receipt: Receipt, place: number): ChangeOfCharge {
  const { charge, pix, disposition, endedLease } = receipt;
  const isCredit = disposition.kind === 'credit';
  return {
    place,
    id: charge.id,
    version: charge.version,
    cause: isCredit ? 'pix_accepted' : 'pix_suspended',
    end_to_end_id: pix.endToEndId,
    amount: pix.amountCents.toString(),
    paid_at: pix.paidAt,
    disposition: disposition.kind,
    reason: isCredit ? null : disposition.reason,
    accepted_e2e: isCredit ? pix.endToEndId : null,
    ended_lease: endedLease,
  };
}

function toMessages({ charge, pix, disposition, traceparent }: Receipt, place: number) {
  return { place, messages: receivedCommands(charge, pix, disposition), traceparent };
}
