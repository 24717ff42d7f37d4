import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** What holds sealed secrets: endpoints, deleted ones too, and the destinations of resources. */
export const SEALED_TABLES = ['endpoints', 'destinations'] as const;
export type SealedTable = (typeof SEALED_TABLES)[number];

/** A sealed secret and whose it is: the seal is bound to `<account>/<owner>`. */
export type SealedSecret = { ownerId: string; accountId: string; sealed: string };
export type Resealed = { ownerId: string; from: string; to: string };

/** Beyond it a count means "at least". */
const COUNT_MAX = 10_000;
/** Versions that are counted by themselves; an installation has two at a time. */
const VERSIONS_MAX = 100;

// Identifiers cannot be parameters, so each table's pieces are written out. The version must be spelled as the indexes
// `…_sealing_version` spell it.
const PIECES: Record<SealedTable, { table: Statement; owner: Statement }> = {
  endpoints: { table: sql`endpoints`, owner: sql`id` },
  destinations: { table: sql`destinations`, owner: sql`resource_id` },
};
const version = sql`split_part(sealed_secret, '.', 3)`;

/**
 * True for one process at a time, until the transaction ends. A process that dies releases it with its connection.
 */
export async function takeResealingLease(tx: Transaction): Promise<boolean> {
  const rows = await tx.query(
    named(
      'resealing_lease',
      sql`select name from leases where name = 'resealing' for update skip locked`,
    ),
  );
  return rows.length === 1;
}

/** How many secrets are sealed to each version but one, up to `COUNT_MAX` each. */
export async function countOtherVersions(
  db: Queryable,
  table: SealedTable,
  newest: string,
): Promise<Map<string, number>> {
  const rows = await db.query<{ version: string; count: number }>(
    otherVersionsStatement(table, newest),
  );
  return new Map(rows.map((row) => [row.version, row.count]));
}

/** Jumps from one version to the next in the index, so it costs nothing where there are few. */
export function otherVersionsStatement(table: SealedTable, newest: string): Statement {
  const { table: from } = PIECES[table];
  return named(
    `${table}_sealing_versions`,
    sql`
      with recursive versions as (
        (
          select ${version} as version from ${from}
          where sealed_secret is not null
          order by ${version}
          limit 1
        )
        union all
        select (
          select ${version} from ${from}
          where sealed_secret is not null and ${version} > versions.version
          order by ${version}
          limit 1
        )
        from versions
        where versions.version is not null
      )
      select versions.version, counted.count
      from (select version from versions limit ${VERSIONS_MAX}) as versions
      cross join lateral (
        select count(*)::int as count
        from (
          select from ${from}
          where ${isVersion(sql`versions.version`)}
          order by ${version}
          limit ${COUNT_MAX}
        ) as bounded
      ) as counted
      where versions.version is not null and versions.version <> ${newest}`,
  );
}

/** Secrets that are sealed to one version, without those that were found unreadable. */
export async function findSealedTo(
  db: Queryable,
  table: SealedTable,
  page: { version: string; without: readonly string[]; limit: number },
): Promise<SealedSecret[]> {
  return await db.query<SealedSecret>(sealedToStatement(table, page));
}

export function sealedToStatement(
  table: SealedTable,
  page: { version: string; without: readonly string[]; limit: number },
): Statement {
  const { table: from, owner } = PIECES[table];
  return named(
    `${table}_sealed_to`,
    sql`
      select ${owner} as "ownerId", account_id as "accountId", sealed_secret as sealed
      from ${from}
      where ${isVersion(sql`${page.version}::text`)}
        and ${owner} <> all (${page.without}::uuid[])
      order by ${version}
      limit ${page.limit}`,
  );
}

/**
 * Puts new texts in the place of old ones where those still stand: what was changed meanwhile is left as it is. Locks
 * the rows by their keys; locked rows come with a later page.
 */
export async function replaceSealed(
  tx: Transaction,
  table: SealedTable,
  resealed: readonly Resealed[],
): Promise<number> {
  const rows = await tx.query(replaceStatement(table, resealed));
  return rows.length;
}

export function replaceStatement(table: SealedTable, resealed: readonly Resealed[]): Statement {
  const { table: into, owner } = PIECES[table];
  return named(
    `${table}_reseal`,
    sql`
      with resealed as (
        select * from unnest(
          ${resealed.map(({ ownerId }) => ownerId)}::uuid[],
          ${resealed.map(({ from }) => from)}::text[],
          ${resealed.map(({ to }) => to)}::text[]
        ) as resealed (owner_id, old_secret, new_secret)
      ),
      free as (
        select ${owner} as free_id
        from ${into}
        where ${owner} = any (array(select owner_id from resealed))
        order by ${owner}
        for no key update skip locked
      )
      update ${into}
      set sealed_secret = resealed.new_secret
      from resealed
      where ${owner} = any (array(select free_id from free))
        and ${owner} = resealed.owner_id
        and sealed_secret = resealed.old_secret
      returning 1`,
  );
}

/**
 * As a range and together with the order, because an equality asks no index for an order, and where all rows have one
 * version a plan would then read the table from its beginning.
 */
function isVersion(value: Statement): Statement {
  return sql`sealed_secret is not null and ${version} >= ${value} and ${version} <= ${value}`;
}
