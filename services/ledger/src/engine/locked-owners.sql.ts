import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { plainArray } from './plain-array.ts';

/** A transaction that has lasted so long is no batch that is about to end; `lock_batch` waits as long for a row. */
const HELD_TOO_LONG_MS = 500;

/** `hasRow` is false of a new owner, whose row is not committed. */
type LockedOwner = { accountId: AccountId; hasRow: boolean };

/**
 * Which of these owners have a row that another transaction has held for too long. Waits for nothing: it skips what is
 * locked. Where the age of that transaction cannot be read, as of another role's, it counts as too long. If there are
 * none, the wait was for the row of a new owner, which a transaction has inserted and not committed. Nobody else sees
 * whose row that is, so all owners without a row are answered. Reads the primary key.
 */
export async function findLockedOwners(
  db: Queryable,
  owners: ReadonlySet<AccountId>,
): Promise<LockedOwner[]> {
  return await db.query<LockedOwner>(
    named(
      'ledger_locked_owners',
      sql`
        with free as (
          select account_id
          from accounts
          where account_id = any (${plainArray(owners)}::uuid[])
          for update skip locked
        ),
        locked as (
          select account_id
          from accounts
          where account_id = any (${plainArray(owners)}::uuid[])
            and not exists (select from free where free.account_id = accounts.account_id)
            and not exists (
              select from pg_stat_activity
              where backend_xid = accounts.xmax
                and xact_start > clock_timestamp() - ${HELD_TOO_LONG_MS}::int * interval '1 ms'
            )
        )
        select account_id as "accountId", true as "hasRow"
        from locked
        union all
        select owner, false
        from unnest(${plainArray(owners)}::uuid[]) as owner
        where not exists (select from locked)
          and not exists (select from accounts where account_id = owner)`,
    ),
  );
}
