import type { AccountId, PayoutId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

export type StoredPayout = {
  id: PayoutId;
  accountId: AccountId;
  status: string;
  source: string;
  createdAt: Date;
  reference: string | null;
  endToEndId: string | null;
};

/** Puts a payout of the past into the table, past its creation. */
export async function storePayout(
  db: Queryable,
  changes: Partial<StoredPayout> = {},
): Promise<StoredPayout> {
  const row: StoredPayout = {
    id: newId(),
    accountId: newId(),
    status: 'pending',
    source: 'api',
    createdAt: new Date('2026-11-21T12:00:00.000Z'),
    reference: null,
    endToEndId: null,
    ...changes,
  };
  const failureReason = row.status === 'failed' ? 'AC03: no account' : null;
  await db.query(sql`
    insert into payouts (
      id, account_id, application_id, source, status, amount, fee, reference, pix_key_type, pix_key,
      pix_key_canonical, fingerprint, is_automatic, hold_id, end_to_end_id, failure_reason, created_at
    )
    values (
      ${row.id}, ${row.accountId}, ${newId()}, ${row.source}, ${row.status}, 1000, 0, ${row.reference},
      'email', 'Ana@example.com', 'ana@example.com', '\\x00', false, ${newId()}, ${row.endToEndId},
      ${failureReason}, ${row.createdAt}
    )`);
  return row;
}
