import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** A charge beside its history. */
export type HistoryCount = {
  id: string;
  version: number;
  status: string;
  rows: number;
  first: number | null;
  last: number | null;
  lastStatus: string | null;
  /** Rows that do not begin where the one before ended. */
  misfits: number;
};

function historiesOf(charges: Statement): Statement {
  return sql`
    select id, version, status, rows, first, last, last_status, misfits
    from (${charges}) as charges
    cross join lateral (
      select
        count(*)::int as rows,
        min(number) as first,
        max(number) as last,
        (array_agg(to_status order by number desc))[1] as last_status,
        (count(*) filter (where from_status is distinct from before and before is not null))::int as misfits
      from (
        select version as number, from_status, to_status, lag(to_status) over (order by version) as before
        from charge_history
        where charge_id = charges.id
      ) as history
    ) as history
    order by id`;
}

/** One page by id. */
export async function listHistories(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<HistoryCount[]> {
  const charges = sql`
    select id, version, status from charges
    where id > ${page.after ?? NIL_ID}::uuid
    order by id
    limit ${page.limit}`;
  const rows = await db.query<HistoryRecord>(named('list_histories', historiesOf(charges)));
  return rows.map(toHistoryCount);
}

export async function findHistories(
  db: Queryable,
  ids: readonly string[],
): Promise<HistoryCount[]> {
  if (ids.length === 0) return [];
  const charges = sql`select id, version, status from charges where id = any(${ids}::uuid[])`;
  const rows = await db.query<HistoryRecord>(named('find_histories', historiesOf(charges)));
  return rows.map(toHistoryCount);
}

type HistoryRecord = Omit<HistoryCount, 'lastStatus'> & { last_status: string | null };

function toHistoryCount({ last_status: lastStatus, ...row }: HistoryRecord): HistoryCount {
  return { ...row, lastStatus };
}
