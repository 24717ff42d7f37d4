import { sql, type Statement } from './sql.ts';

/**
 * Fragments of lists that show the newest first: by `created_at`, ties by id, from behind a cursor's row on
 * (decision 87). They are written so that a page costs the same at any depth, and so that its plan does not hang on
 * statistics: it reads what it shows and no more, whatever the planner believes of a table that has just grown.
 */

/** Strict bounds on the time of creation, at the milliseconds that are stored (decision 88). */
export type CreatedBetween = { createdAfter?: Date | undefined; createdBefore?: Date | undefined };

/** `limit`: rows at most. `startingAfter`: the id behind which the page begins. */
export type ListPage = { limit: number; startingAfter: string | null };

const NEWEST_FIRST = sql`created_at desc, id desc`;

/** Below every id, so that a place with it stands below all rows of its instant. */
const LOWEST_ID = sql`'00000000-0000-0000-0000-000000000000'::uuid`;

/** One condition out of several. */
export function allOf(first: Statement, ...others: readonly Statement[]): Statement {
  return others.reduce((joined, next) => sql`${joined} and ${next}`, first);
}

/** The lower bound on `created_at`; the upper one is part of where the list starts. */
export function isCreatedAfter({ createdAfter }: CreatedBetween): Statement {
  return createdAfter === undefined ? sql`true` : sql`created_at > ${createdAfter}`;
}

/**
 * The place (`created_at`, `id`) below which a page's rows stand: the cursor's or the upper bound's, whichever is
 * lower. Both are one place because an index scan starts at one bound and walks from there to the other.
 *
 * `cursor` selects `created_at` and `id` of the row that the cursor names, among those that the list could show; if
 * there is none, there is no place, and nothing stands below it. Null: no cursor was given.
 */
export function startOf({ createdBefore }: CreatedBetween, cursor: Statement | null): Statement {
  if (createdBefore === undefined) return cursor ?? startBelow(sql`'infinity'`);
  if (cursor === null) return startBelow(sql`${createdBefore}`);
  return lowerOf(cursor, sql`${createdBefore}::timestamptz`);
}

/** One page of the rows that `rows`, a select without an order, finds in the range of one index. */
export function pageOf(rows: Statement, start: Statement, limit: number): Statement {
  return sql`${rows} and (created_at, id) < (${start}) ${newest(limit)}`;
}

/**
 * One page out of several ranges of an index, each in order by itself: at most a page is read of each. `slices`
 * selects a row for each range, with the end of its time of creation as `created_below`; `rows`, a select without an
 * order, refers to it as `slice`.
 */
export function pageOfSlices(
  slices: Statement,
  rows: Statement,
  { start, limit }: { start: Statement; limit: number },
): Statement {
  const startOfSlice = lowerOf(sql`select start.created_at, start.id`, sql`slice.created_below`);
  return sql`
    select page.*
    from (${start}) as start
    cross join (${slices}) as slice
    cross join lateral (${pageOf(rows, startOfSlice, limit)}) as page
    ${newest(limit)}`;
}

/** One page out of two, each of which reads an index of its own and has the same columns. */
export function pageOfBoth(one: Statement, other: Statement, limit: number): Statement {
  return sql`
    select page.*
    from ((${one}) union all (${other})) as page
    ${newest(limit)}`;
}

/** A page with some of its columns: what is not asked for is neither computed nor sent. */
export function columnsOf(page: Statement, columns: Statement): Statement {
  return sql`select ${columns} from (${page}) as page order by ${NEWEST_FIRST}`;
}

/**
 * The row under an id, `rows` being a select of a table. Found by the primary key, whatever else is asked of the row
 * around it: an index that begins with another column holds the id too, and may look as good to the planner.
 */
export function rowById(rows: Statement, id: string): Statement {
  return sql`${rows} where id = ${id} offset 0`;
}

function startBelow(instant: Statement): Statement {
  return sql`select ${instant}::timestamptz as created_at, ${LOWEST_ID} as id`;
}

/** The place that `places` selects, or the one below all rows of an instant, if that is lower. */
function lowerOf(places: Statement, instant: Statement): Statement {
  return sql`
    select least(place.created_at, ${instant}) as created_at,
      case when place.created_at < ${instant} then place.id else ${LOWEST_ID} end as id
    from (${places}) as place`;
}

/**
 * The limit is a subquery because the planner must not know it: where it believes that fewer rows exist than a page
 * takes, it would collect and sort all of them instead of walking along the index.
 */
function newest(limit: number): Statement {
  return sql`order by ${NEWEST_FIRST} limit (select ${limit}::int)`;
}
