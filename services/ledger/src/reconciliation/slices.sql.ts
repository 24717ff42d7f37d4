import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** An owner of money, and the journal after which to compare. */
export type Owner = { accountId: string; from: bigint; version: bigint };

/** Zero within every owner, as every journal nets to zero. */
export const ALL_PARTS = sql`available + pending + held + blocked + suspense + acquirer_clearing + fees + acquirer_tariffs`;

/** A page of all owners by id, from their first journal. */
export async function readOwners(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<Owner[]> {
  return await db.query<Owner>(
    named(
      'reconciliation_owners',
      sql`
        select account_id as "accountId", 0::bigint as "from", version
        from accounts
        where account_id > ${page.after ?? NIL_ID}::uuid
        order by account_id
        limit ${page.limit}`,
    ),
  );
}

/**
 * Owners that moved since an instant, behind their last journal before it; and owners whose parts do not net to
 * zero, as every journal does, from their first. Reads each row once: there is no index on what moves.
 */
export async function findChangedOwners(db: Queryable, since: Date): Promise<Owner[]> {
  return await db.query<Owner>(
    named(
      'reconciliation_changed_owners',
      sql`
        select
          account_id as "accountId",
          case when ${ALL_PARTS} <> 0 then 0 else version_at(account_id, ${since}::timestamptz) end as "from",
          version
        from accounts
        where moved_at >= ${since}::timestamptz
          or ${ALL_PARTS} <> 0
        order by account_id`,
    ),
  );
}

/** The owners that some ids name: their own, or those of their commands. From their first journal. */
export async function findOwners(db: Queryable, ids: readonly string[]): Promise<Owner[]> {
  if (ids.length === 0) return [];
  return await db.query<Owner>(
    named(
      'reconciliation_find_owners',
      sql`
        select account_id as "accountId", 0::bigint as "from", version
        from accounts
        where account_id = any(${ids}::uuid[])
          or account_id in (select account_id from journals where command_id = any(${ids}::uuid[]))`,
    ),
  );
}
