import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ChargeRow } from './charge-row.ts';

/**
 * Keeps what happened at the acquirer and has no place in the table of transitions, once per charge, happening and
 * detail. False when it is kept already.
 */
export async function ignoreHappening(
  db: Queryable,
  charge: Pick<ChargeRow, 'id' | 'status'>,
  ignored: { happening: string; detail: string },
): Promise<boolean> {
  const rows = await db.query(
    named(
      'ignored_happening_keep',
      sql`
        insert into ignored_happenings (charge_id, happening, detail, status)
        values (${charge.id}, ${ignored.happening}, ${ignored.detail}, ${charge.status})
        on conflict (charge_id, happening, detail) do nothing
        returning charge_id`,
    ),
  );
  return rows.length === 1;
}
