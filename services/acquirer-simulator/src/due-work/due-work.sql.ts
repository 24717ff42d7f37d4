import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { JOURNAL_GATE } from '#journal/journal.sql.ts';

export type Due = {
  sends: boolean;
  charges: boolean;
  refunds: boolean;
  disputes: boolean;
  callbacks: boolean;
};

/**
 * What is due now: the earliest time of each kind, which is one entry of `sends_due_at`, `charges_pays_at`,
 * `received_returns_due_at`, `disputes_deadline_at` or `callbacks_next_attempt_at`. Callbacks go by real time. Whether
 * there is any that is due would be looked for in the whole table where the planner expects many. The clock would be
 * read for each row.
 */
export async function readDueWork(db: Queryable): Promise<Due> {
  const [due] = (await db.query<Due>(
    named(
      'due_work_read',
      sql`
        select
          coalesce(sends <= clock.now, false) as sends,
          coalesce(charges <= clock.now, false) as charges,
          coalesce(refunds <= clock.now, false) as refunds,
          coalesce(disputes <= clock.now, false) as disputes,
          coalesce(callbacks <= now(), false) as callbacks
        from (select now_() as now) as clock
        cross join (
          select
            (select min(due_at) from sends) as sends,
            (select min(pays_at) from charges) as charges,
            (select min(due_at) from received_returns) as refunds,
            (select min(deadline_at) from disputes where status = 'ABERTA') as disputes,
            (select min(next_attempt_at) from callbacks) as callbacks
        ) as earliest`,
    ),
  )) as [Due];
  return due;
}

/**
 * Takes one charge that pays itself now; null when there is none. A removed one is not due any more; one that
 * has expired meanwhile, because no process was there, is taken and not payable.
 */
export async function takeDueCharge(
  tx: Transaction,
): Promise<{ txid: string; isPayable: boolean } | null> {
  const [charge = null] = await tx.query<{ txid: string; isPayable: boolean }>(
    named(
      'charge_take_due',
      sql`
        with ${JOURNAL_GATE},
        due as (
          select txid
          from charges
          cross join gate
          where pays_at <= (select now_())
          order by pays_at
          limit 1
          for update of charges skip locked
        )
        update charges
        set pays_at = null
        from due
        where charges.txid = due.txid
        returning
          charges.txid,
          created_at + make_interval(secs => expires_in_seconds) > now_() as "isPayable"`,
    ),
  );
  return charge;
}
