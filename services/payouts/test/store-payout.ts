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

/**
 * The history of one account, a payout a minute until now. Next to all have completed; each hundredth failed, canceled
 * ones are rare and stand among the oldest only, and intents lie between.
 */
export async function fillPayouts(
  db: Queryable,
  history: { accountId: AccountId; rows: number; from?: number; count?: number },
): Promise<void> {
  const { accountId, rows, from = 0, count = rows } = history;
  await db.query(sql`
    insert into payouts (
      id, account_id, source, status, amount, fee, reference, pix_key_type, pix_key, pix_key_canonical,
      fingerprint, is_automatic, hold_id, failure_reason, created_at
    )
    select gen_random_uuid(), ${accountId}::uuid, 'api', status, 1000, 0, 'r' || number, 'email', 'a@b.c', 'a@b.c',
      '\\x00', false, gen_random_uuid(), case when status = 'failed' then 'AC03: no account' end,
      date_trunc('milliseconds', now() - (${rows}::int - number) * interval '1 min')
    from (
      select number,
        case
          when number > ${rows}::int - 3 then 'pending'
          when number <= ${rows}::int / 20 and number % 500 = 499 then 'canceled'
          when number % 100 = 99 then 'failed'
          when number % 1000 = 1 then 'intent'
          when number % 500 = 3 then 'processing'
          else 'completed'
        end as status
      from generate_series(${from}::int + 1, ${from}::int + ${count}::int) as number
    ) as history`);
}
