import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ChargeRow } from './charge-row.ts';

/**
 * Records an event at the acquirer that has no place in the table of transitions, once per charge, event and detail.
 * False when it is recorded already.
 */
export async function recordIgnoredEvent(
  db: Queryable,
  charge: Pick<ChargeRow, 'id' | 'status'>,
  ignored: { event: string; detail: string },
): Promise<boolean> {
  const rows = await db.query(
    named(
      'record_ignored_event',
      sql`
        insert into ignored_events (charge_id, event, detail, status)
        values (${charge.id}, ${ignored.event}, ${ignored.detail}, ${charge.status})
        on conflict (charge_id, event, detail) do nothing
        returning charge_id`,
    ),
  );
  return rows.length === 1;
}
