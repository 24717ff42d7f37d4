import type { ReceivedPix } from '@pixmesh/acquirer/client';
import type { AccountId, ChargeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ChargeRow } from '#charge/charge-row.ts';
import { appendHistory } from '#charge/charges.sql.ts';

import type { Disposition } from './decide-received.ts';

/** A received Pix as recorded; one that nobody owns has neither charge nor account. */
export type RecordedReceived = {
  endToEndId: string;
  chargeId: ChargeId | null;
  accountId: AccountId | null;
  amount: Cents;
  disposition: Disposition['kind'];
};

/** Those that are recorded already, out of the given ones. Primary key reads. */
export async function findRecorded(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<RecordedReceived[]> {
  if (endToEndIds.length === 0) return [];
  const rows = await db.query<RecordedRow>(
    named(
      'received_pix_recorded',
      sql`
        select end_to_end_id, charge_id, account_id, amount, disposition
        from received_pix
        where end_to_end_id = any(${endToEndIds}::text[])`,
    ),
  );
  return rows.map((row) => ({
    endToEndId: row.end_to_end_id,
    chargeId: row.charge_id,
    accountId: row.account_id,
    amount: toCents(row.amount),
    disposition: row.disposition,
  }));
}

type RecordedRow = {
  end_to_end_id: string;
  charge_id: ChargeId | null;
  account_id: AccountId | null;
  amount: bigint;
  disposition: Disposition['kind'];
};

/**
 * Records a received Pix once per end-to-end id, together with its ledger commands; a Pix that pays the charge
 * becomes its `accepted_e2e` in the same statement. False when the charge has moved since it was read, or the
 * Pix is recorded already: nothing is written then.
 */
export async function recordReceivedPix(
  db: Queryable,
  record: {
    charge: ChargeRow;
    pix: ReceivedPix;
    disposition: Disposition;
    commands: readonly OutboundEvent[];
  },
): Promise<boolean> {
  const { charge, pix, disposition } = record;
  const accepted = disposition.kind === 'credit' ? pix.endToEndId : null;
  const reason = disposition.kind === 'suspense' ? disposition.reason : null;
  const rows = await db.query(
    named(
      'received_pix_record',
      sql`
        with moved as (
          update charges
          set accepted_e2e = coalesce(${accepted}, accepted_e2e), version = version + 1
          where id = ${charge.id}
            and version = ${charge.version}
            and not exists (select from received_pix where end_to_end_id = ${pix.endToEndId})
          returning id, account_id, version
        ),
        ${appendHistory(sql`moved`, {
          from: charge.status,
          status: charge.status,
          cause: accepted === null ? 'pix_suspended' : 'pix_accepted',
          detail: pix.endToEndId,
        })},
        recorded as (
          insert into received_pix
            (end_to_end_id, charge_id, account_id, amount, paid_at, disposition, reason)
          select ${pix.endToEndId}, id, account_id, ${pix.amountCents}, ${pix.paidAt}, ${disposition.kind}, ${reason}
          from moved
          returning end_to_end_id
        ),
        ${appendEvents(sql`select from recorded`, record.commands)}
        select end_to_end_id from recorded`,
    ),
  );
  return rows.length === 1;
}

/**
 * Records a Pix that nobody owns once per end-to-end id, together with its ledger commands. False when it is recorded
 * already, for whomever: nothing is written then.
 */
export async function recordUnownedPix(
  db: Queryable,
  pix: ReceivedPix,
  commands: readonly OutboundEvent[],
): Promise<boolean> {
  const rows = await db.query(
    named(
      'received_pix_record_unowned',
      sql`
        with recorded as (
          insert into received_pix (end_to_end_id, amount, paid_at, disposition, reason)
          values (${pix.endToEndId}, ${pix.amountCents}, ${pix.paidAt}, 'suspense', 'unowned')
          on conflict (end_to_end_id) do nothing
          returning end_to_end_id
        ),
        ${appendEvents(sql`select from recorded`, commands)}
        select end_to_end_id from recorded`,
    ),
  );
  return rows.length === 1;
}

/** When the Pix that pays a charge was settled, by the acquirer's clock (decision 221). */
export async function findPaidAt(
  db: Queryable,
  chargeId: ChargeId,
  endToEndId: string,
): Promise<Date | null> {
  const rows = await db.query<{ paid_at: Date }>(
    named(
      'received_pix_paid_at',
      sql`
        select paid_at from received_pix
        where end_to_end_id = ${endToEndId} and charge_id = ${chargeId} and disposition = 'credit'`,
    ),
  );
  return rows[0]?.paid_at ?? null;
}
