import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { sliceTable } from './check-entries.sql.ts';
import type { UnequalPart } from './part-checks.sql.ts';
import type { Slice } from './slices.ts';

/** Pages of the table of releases; what is added after a snapshot began is in none that it can see. */
export async function countReleasePages(db: Queryable): Promise<number> {
  const [row] = await db.query<{ pages: number }>(
    named(
      'reconciliation_release_pages',
      sql`select (pg_relation_size('releases') / current_setting('block_size')::int)::int as pages`,
    ),
  );
  return row?.pages ?? 0;
}

type OwnersReleases = { accountId: string; amount: bigint; count: number };

/** Sums by owner of the releases in some pages of the table; reads these pages and no others. */
export async function sumReleases(
  db: Queryable,
  pages: { from: number; to: number },
): Promise<OwnersReleases[]> {
  return await db.query<OwnersReleases>(
    named(
      'reconciliation_sum_releases',
      sql`
        select account_id as "accountId", sum(amount)::bigint as amount, count(*)::int as count
        from releases
        where ctid >= ${`(${pages.from},0)`}::tid and ctid < ${`(${pages.to},0)`}::tid
        group by account_id`,
    ),
  );
}

type PendingCredit = { accountId: string; creditId: string; amount: bigint };

/** The credits of some slices that went into `pending`. Reads `entries_pkey` and `journals_version`. */
export async function readPendingCredits(
  tx: Transaction,
  slices: readonly Slice[],
): Promise<PendingCredit[]> {
  return await tx.query<PendingCredit>(sql`
    with ${sliceTable(slices)}
    select slice.account_id as "accountId", command_id as "creditId", amount
    from slice
    cross join lateral (
      select version, amount
      from entries
      where account_id = slice.account_id
        and kind = 'pending'
        and version > from_version
        and version <= to_version
        and amount > 0
      offset 0
    ) as entry
    cross join lateral (
      select command_id
      from journals
      where account_id = slice.account_id and version = entry.version
      offset 0
    ) as journal`);
}

/**
 * Owners with credits whose release is not what is pending of them: all of a credit until the journal of its release,
 * then nothing. Goes from credit to credit by the keys of `releases`, `journals` and `entries`; one snapshot.
 */
export async function findUnequalCredits(
  tx: Transaction,
  credits: readonly (PendingCredit & { releaseId: string })[],
): Promise<UnequalPart[]> {
  return await tx.query<UnequalPart>(sql`
    select account_id as "accountId", sum(waits)::bigint as items, sum(pending)::bigint as stored
    from (
      select
        credit.account_id,
        coalesce(release.amount, 0) as waits,
        credit.amount + coalesce(released.amount, 0) as pending
      from unnest(
        ${credits.map(({ accountId }) => accountId)}::uuid[],
        ${credits.map(({ creditId }) => creditId)}::uuid[],
        ${credits.map(({ releaseId }) => releaseId)}::uuid[],
        ${credits.map(({ amount }) => amount)}::bigint[]
      ) as credit (account_id, credit_id, release_id, amount)
      left join lateral (
        select account_id, amount from releases where command_id = credit_id offset 0
      ) as release on release.account_id = credit.account_id
      left join lateral (
        select account_id, version from journals where command_id = release_id offset 0
      ) as journal on journal.account_id = credit.account_id
      left join lateral (
        select amount
        from entries
        where account_id = journal.account_id and kind = 'pending' and version = journal.version
        offset 0
      ) as released on true
    ) as compared
    where waits <> pending
    group by account_id`);
}
