import assert from 'node:assert';

import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** Pages of the table per statement: about a thousand rows, and less than 3,000 where they are as short as can be. */
const PAGES_PER_STATEMENT = 32;
/** Statements of one turn of the retention: a job whose turn lasts for a minute counts as one that hangs. */
const STATEMENTS_MAX = 200;

/**
 * Deletes destinations of which nothing is kept any more, on a bounded number of the table's pages from `first` on.
 * Answers on which page another turn goes on; null behind the last one. No index leads to them: every charge would
 * write an entry that is read once (ADR 0014).
 */
export async function deleteUnusedDestinations(
  db: Queryable,
  first: number,
): Promise<number | null> {
  const unusedSince = await findUnusedSince(db);
  const end = first + STATEMENTS_MAX * PAGES_PER_STATEMENT;
  for (let page = first; page < end; page += PAGES_PER_STATEMENT) {
    const [row] = await db.query<{ isMore: boolean }>(deleteUnusedStatement(page, unusedSince));
    if (!row?.isMore) return null;
  }
  return end;
}

/**
 * Nothing that is kept names a destination whose last use was noted before this instant: no delivery, so nothing in
 * `queue`, whose rows keep their deliveries, and no event that is set aside. A use is noted within 30 days, and a day
 * is for clocks. Within 120 days of its creation a charge or payout may have a further event, which finds its secret
 * here under the newest sealing key.
 */
async function findUnusedSince(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ unusedSince: Date }>(
    named(
      'destinations_unused_since',
      sql`
        select least(
          now() - interval '120 days',
          uuid_extract_timestamp(least(
            (select id from deliveries order by id limit 1),
            (select event_id from set_aside_events order by event_id limit 1)
          )) - interval '31 days'
        ) as "unusedSince"`,
    ),
  );
  assert(row, 'a select without a table has one row');
  return row.unusedSince;
}

/**
 * Reads some pages. Rows that are locked are left to the next time: an event that comes for one at this moment notes
 * its use, and is seen here. One that comes later waits, and stores its own destination (`note_use_of_destination`).
 */
export function deleteUnusedStatement(page: number, unusedSince: Date): Statement {
  return named(
    'destinations_delete_unused',
    sql`
      with picked as materialized (
        select resource_id
        from destinations
        where ctid >= ${`(${page},0)`}::tid
          and ctid < ${`(${page + PAGES_PER_STATEMENT},0)`}::tid
          and used_at < ${unusedSince}::timestamptz
        for update skip locked
      ),
      gone as (
        delete from destinations
        where resource_id = any (array(select resource_id from picked))
      )
      select ${page + PAGES_PER_STATEMENT}::bigint * current_setting('block_size')::int
        < pg_relation_size('destinations') as "isMore"`,
  );
}
