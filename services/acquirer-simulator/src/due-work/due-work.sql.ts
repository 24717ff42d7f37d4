import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { JOURNAL_GATE } from '#journal/journal.sql.ts';

export type Due = { sends: boolean; charges: boolean; refunds: boolean; disputes: boolean };

/**
 * What is due now. Indexes `sends_due_at`, `charges_pays_at`, `received_returns_due_at` and `disputes_deadline_at`.
 */
export async function readDueWork(db: Queryable): Promise<Due> {
  const [due] = (await db.query<Due>(
    named(
      'due_work_read',
      sql`
        select
          exists (select from sends where due_at <= now_()) as sends,
          exists (select from charges where pays_at <= now_()) as charges,
          exists (select from received_returns where due_at <= now_()) as refunds,
          exists (
            select from disputes where status = 'ABERTA' and deadline_at <= now_()
          ) as disputes`,
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
          where pays_at <= now_()
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
