import type { ReceivedPix } from '@pixmesh/acquirer/client';
import type { ChargeId } from '@pixmesh/kernel/ids';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ChargeRow } from '#charges/charge-row.ts';

import type { Disposition } from './decide-received.ts';

/** End-to-end ids that are recorded already, out of those given. Primary key reads. */
export async function findRecorded(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db.query<{ end_to_end_id: string }>(
    named(
      'received_pix_recorded',
      sql`select end_to_end_id from received_pix where end_to_end_id = any(${endToEndIds}::text[])`,
    ),
  );
  return new Set(rows.map((row) => row.end_to_end_id));
}

/**
 * Records a received Pix once per end-to-end id, together with its ledger command; a Pix that pays the charge
 * becomes its `accepted_e2e` in the same statement. False when the charge has moved since it was read, or the
 * Pix is recorded already: nothing is written then.
 */
export async function recordReceivedPix(
  db: Queryable,
  record: { charge: ChargeRow; pix: ReceivedPix; disposition: Disposition; command: OutboundEvent },
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
          returning id, account_id
        ),
        recorded as (
          insert into received_pix
            (end_to_end_id, charge_id, account_id, amount, paid_at, disposition, reason)
          select ${pix.endToEndId}, id, account_id, ${pix.amountCents}, ${pix.paidAt}, ${disposition.kind}, ${reason}
          from moved
          returning end_to_end_id
        ),
        ${appendEvents(sql`select from recorded`, [record.command])}
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
