import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** A return as a list of the acquirer shows it; `id` is the one under which it is booked. */
export type ListedReturn = Pick<PixReturn, 'id' | 'status'> & { endToEndId: string };

/** The table of booked returns, by `end_to_end_id` and `return_id`, and its column that says when each was booked. */
export type BookedReturns = { table: Statement; bookedAt: Statement };

/** No page is longer on its way. */
const PAGE_MS_MAX = 60_000;
/** More than an operator can work through; the rest shows as these are put right. */
const CONTRADICTED_MAX = 1_000;

/**
 * Records which returns that we have booked the acquirer shows as not carried out, and drops those that it shows as
 * carried out again. Returns the newly recorded ones. One that was booked just now may have been carried out while the
 * page was on its way; a later page is compared with it. Primary key reads, in one statement; repeated, it writes nothing.
 */
export async function recordContradictions(
  db: Queryable,
  booked: BookedReturns,
  listed: readonly ListedReturn[],
): Promise<ListedReturn[]> {
  if (listed.length === 0) return [];
  return await db.query<ListedReturn>(
    named(
      'record_return_contradictions',
      sql`
        with listed as (
          select * from unnest(
            ${listed.map(({ endToEndId }) => endToEndId)}::text[],
            ${listed.map(({ id }) => id)}::text[],
            ${listed.map(({ status }) => status)}::text[]
          ) as listed (end_to_end_id, return_id, status)
        ),
        healed as (
          delete from return_contradictions as known
          using listed
          where known.end_to_end_id = listed.end_to_end_id and known.return_id = listed.return_id
            and listed.status = 'returned'
        )
        insert into return_contradictions (end_to_end_id, return_id, status)
        select distinct on (end_to_end_id, return_id) end_to_end_id, return_id, listed.status
        from listed
        join ${booked.table} using (end_to_end_id, return_id)
        where listed.status <> 'returned'
          and ${booked.bookedAt} < now() - ${PAGE_MS_MAX}::int * interval '1 ms'
        on conflict (end_to_end_id, return_id) do nothing
        returning end_to_end_id as "endToEndId", return_id as id, status`,
    ),
  );
}

/** All of them, few as they are: each stays until the acquirer shows the return again. */
export async function listReturnContradictions(db: Queryable): Promise<ListedReturn[]> {
  return await db.query<ListedReturn>(
    named(
      'list_return_contradictions',
      sql`
        select end_to_end_id as "endToEndId", return_id as id, status
        from return_contradictions
        order by seen_at, return_id
        limit ${CONTRADICTED_MAX}`,
    ),
  );
}
