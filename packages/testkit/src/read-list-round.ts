import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { eventually } from './eventually.ts';

const PATIENCE_MS = 30_000;

/** Lets a reading of the acquirer's lists begin anew at once, and waits until it has read all that it reads. */
export async function readListRound(db: Queryable, name: string): Promise<void> {
  const [begun] = await db.query<{ at: Date }>(sql`
    update acquirer_lists
    set check_at = now(), window_from = null, window_to = null, began_at = null, page = 0
    where name = ${name} and lease_until is null
    returning now() as at`);
  if (begun === undefined) throw new Error(`${name} is not read, or just now`);
  await eventually(async () => {
    // A run that a busy machine lets time out would be repeated after the reading's interval only.
    const rows = await db.query(sql`
      update acquirer_lists
      set check_at = now()
      where name = ${name} and lease_until is null and listed_until < ${begun.at}::timestamptz(3)
      returning name`);
    const [row] = await db.query<{ is_done: boolean }>(sql`
      select listed_until >= ${begun.at}::timestamptz(3) as is_done from acquirer_lists where name = ${name}`);
    if (rows.length > 0 || row?.is_done !== true) throw new Error(`${name} is not read to its end`);
  }, PATIENCE_MS);
}
