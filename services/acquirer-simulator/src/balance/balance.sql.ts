import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { JOURNAL_GATE } from '#journal/journal.sql.ts';

/** Name under which the setting is stored. */
const ADJUSTMENT = 'balance_adjustment';

/**
 * Money in the account, from what happened: an order takes its amount from the moment it is accepted and gives
 * it back when it is rejected; a return of a received Pix takes its amount when it is done; a tariff with the Pix
 * that it was taken for. Sums over whole tables, since nobody asks often.
 */
export async function readBalance(db: Queryable): Promise<bigint> {
  const rows = await db.query<{ balance: bigint }>(
    named(
      'balance_read',
      sql`
        select (
          coalesce((select sum(amount - coalesce(tariff, 0)) from received_pix where own), 0)
          - coalesce((select sum(amount) from received_returns where status = 'DEVOLVIDO'), 0)
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

/** What open disputes keep of it: of each Pix no more than could still go back. */
export async function readBlocked(db: Queryable): Promise<bigint> {
  const rows = await db.query<{ blocked: bigint }>(
    named(
      'balance_read_blocked',
      sql`
        select coalesce(sum(least(disputes.amount, received_pix.amount - gone.amount)), 0)::bigint
          as blocked
        from disputes
        join received_pix using (end_to_end_id)
        cross join lateral (
          select coalesce(sum(received_returns.amount), 0) as amount
          from received_returns
          where received_returns.end_to_end_id = disputes.end_to_end_id
            and received_returns.status <> 'NAO_REALIZADO'
        ) as gone
        where disputes.status in ('ABERTA', 'EM_DEFESA')`,
    ),
  );
  return rows[0]?.blocked ?? 0n;
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
