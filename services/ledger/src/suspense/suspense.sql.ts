import { allOf, type ListPage, pageOf, rowById, startOf } from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

export type SuspenseRow = {
  id: string;
  account_id: string;
  end_to_end_id: string | null;
  charge_id: string | null;
  payout_id: string | null;
  amount: bigint;
  reason: string;
  created_at: Date;
  resolved_at: Date | null;
};

type SuspenseFilters = {
  account_id?: string | undefined;
  status?: 'open' | 'resolved' | undefined;
};

type SuspensePage = ListPage & { filters: SuspenseFilters };

const COLUMNS = sql`
  id, account_id, end_to_end_id, charge_id, payout_id, amount, reason, created_at, resolved_at`;

/**
 * Items for operators, newest first, after the item `startingAfter`. Reads `suspense_items_newest` backwards, and
 * `suspense_items_open` where only open ones are wanted: they are few among all that were resolved.
 */
export async function listSuspense(db: Queryable, page: SuspensePage): Promise<SuspenseRow[]> {
  return await db.query<SuspenseRow>(suspenseStatement(page));
}

/** Without a name: it is planned for the filters that are given. */
export function suspenseStatement({ filters, limit, startingAfter }: SuspensePage): Statement {
  const start = startOf({}, startingAfter === null ? null : placeOf(startingAfter));
  const wanted = allOf(sql`true`, ...conditions(filters));
  return pageOf(sql`select ${COLUMNS} from suspense_items where ${wanted}`, start, limit);
}

function placeOf(id: string): Statement {
  return rowById(sql`select created_at, id from suspense_items`, id);
}

function conditions({ account_id, status }: SuspenseFilters): Statement[] {
  const wanted: Statement[] = [];
  if (account_id !== undefined) wanted.push(sql`account_id = ${account_id}`);
  if (status === 'open') wanted.push(sql`resolved_at is null`);
  if (status === 'resolved') wanted.push(sql`resolved_at is not null`);
  return wanted;
}

/** Primary key read. */
export async function findSuspenseItem(db: Queryable, id: string): Promise<SuspenseRow | null> {
  const [row] = await db.query<SuspenseRow>(
    named('suspense_find', sql`select ${COLUMNS} from suspense_items where id = ${id}`),
  );
  return row ?? null;
}

/** Primary key read. */
export async function hasSuspenseItem(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    named('suspense_exists', sql`select from suspense_items where id = ${id}`),
  );
  return rows.length === 1;
}

/** A count beyond this only says: many. */
const OPEN_COUNTED_MAX = 1_000;

/** Open items and their money, up to a bound of items. Reads `suspense_items_open`. */
export async function sumOpenSuspense(db: Queryable): Promise<{ items: number; cents: number }> {
  const [row] = await db.query<{ items: number; cents: number }>(
    named(
      'suspense_sum_open',
      sql`
        select count(*)::int as items, coalesce(sum(amount), 0)::float8 as cents
        from (
          select amount
          from suspense_items
          where resolved_at is null
          order by created_at
          limit ${OPEN_COUNTED_MAX}
        ) as open`,
    ),
  );
  return row ?? { items: 0, cents: 0 };
}

/** Seconds for which the oldest open item has waited; 0 when there is none. Reads `suspense_items_open`. */
export async function readOldestSuspenseAge(db: Queryable): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    named(
      'suspense_oldest_age',
      sql`
        select extract(epoch from now() - created_at)::float8 as seconds
        from suspense_items
        where resolved_at is null
        order by created_at
        limit 1`,
    ),
  );
  return row?.seconds ?? 0;
}
