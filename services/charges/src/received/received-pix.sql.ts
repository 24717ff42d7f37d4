import type { AccountId, ChargeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Disposition } from './decide-received.ts';

/** A received Pix as recorded; one without an owner has neither charge nor account. */
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
      'find_received_pix',
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
