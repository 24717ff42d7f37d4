import type { ChargeId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import type { ChargeRow } from '#charge/charge-row.ts';
import { CHARGE_COLUMNS, type ChargeRecord, toChargeRow } from '#charge/charges.sql.ts';

/** A credit as the ledger names it. */
type Credit = { chargeId: ChargeId; endToEndId: string };

/** `paidAt`: when the Pix was settled, by the acquirer's clock (decision 221). */
type CreditedCharge = { charge: ChargeRow; paidAt: Date };

/**
 * Reads the charge that a credited Pix pays; null where no charge accepted it. Reads that come together share a
 * statement.
 */
export type CreditedCharges = WriteBatcher<Credit, CreditedCharge | null>;

export function createCreditedCharges(db: Queryable): CreditedCharges {
  return createWriteBatcher((credits) => findCredited(db, credits));
}

async function findCredited(
  db: Queryable,
  credits: readonly Credit[],
): Promise<(CreditedCharge | null)[]> {
  const rows = await db.query<ChargeRecord & { credited_at: Date }>(
    named(
      'find_credited_charges',
      sql`
        select ${CHARGE_COLUMNS}, credited_at
        from charges
        join (
          select charge_id, end_to_end_id as credited_e2e, paid_at as credited_at
          from received_pix
          where end_to_end_id = any(${credits.map(({ endToEndId }) => endToEndId)}::text[]) and disposition = 'credit'
        ) as credit on charge_id = id and credited_e2e = accepted_e2e
        where id = any(${credits.map(({ chargeId }) => chargeId)}::uuid[])`,
    ),
  );
  const credited = new Map(
    rows.map((row) => {
      const charge = toChargeRow(row);
      return [`${charge.id}/${charge.acceptedE2e}`, { charge, paidAt: row.credited_at }];
    }),
  );
  return credits.map(
    ({ chargeId, endToEndId }) => credited.get(`${chargeId}/${endToEndId}`) ?? null,
  );
}
