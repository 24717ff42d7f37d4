import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { Window } from './window.ts';

/** A list of API Pix: `within` selects the rows of the window, `order` is total. */
export type WindowedList = {
  name: string;
  columns: Statement;
  within: Statement;
  order: Statement;
};

/** One page of a list, and how many rows the whole window has. */
export async function readWindowPage<Row extends object>(
  db: Queryable,
  { name, columns, within, order }: WindowedList,
  window: Window,
): Promise<{ rows: Row[]; total: number }> {
  const [rows, counts] = await Promise.all([
    db.query<Row>(
      named(
        `${name}_list`,
        sql`
          select ${columns}
          ${within}
          order by ${order}
          limit ${window.limit}::int
          offset ${window.offset}::int`,
      ),
    ),
    db.query<{ total: bigint }>(named(`${name}_count`, sql`select count(*) as total ${within}`)),
  ]);
  return { rows, total: Number(counts[0]?.total ?? 0n) };
}
