import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { JOURNAL_GATE } from '#journal/journal.sql.ts';

/** Name under which the setting is stored. */
const ADJUSTMENT = 'balance_adjustment';

/**
 * Money in the account, from what happened: an order takes its amount from the moment it is accepted and gives
 * it back when it is rejected. Sums over whole tables, since nobody asks often.
 */
export async function readBalance(db: Queryable): Promise<bigint> {
  const rows = await db.query<{ balance: bigint }>(
    named(
      'balance_read',
      sql`
        select (
          coalesce((select sum(amount) from received_pix), 0)
          - coalesce((select sum(amount) from sends where status <> 'NAO_REALIZADO'), 0)
          + coalesce((select sum(amount) from send_returns), 0)
          + coalesce(
            (select (value ->> 'amount')::bigint from settings where name = ${ADJUSTMENT}), 0
          )
        )::bigint as balance`,
    ),
  );
  return rows[0]?.balance ?? 0n;
}

/** Sets what the balance shows beyond that, with its journal entry. */
export async function adjustBalance(db: Queryable, amountCents: bigint): Promise<void> {
  await db.query(
    named(
      'balance_adjust',
      sql`
        with ${JOURNAL_GATE},
        stored as (
          insert into settings (name, value)
          select ${ADJUSTMENT}, jsonb_build_object('amount', ${amountCents}::bigint)
          from gate
          on conflict (name) do update
          set value = excluded.value
          returning value
        )
        insert into journal (kind, amount)
        select 'adjusted', (value ->> 'amount')::bigint
        from stored`,
    ),
  );
}
