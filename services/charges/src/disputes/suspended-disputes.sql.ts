import type { AcquirerDispute } from '@pixmesh/acquirer/client';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Keeps what the acquirer says of a dispute of a Pix in suspense; false where that was known. */
export async function keepSuspendedDispute(db: Queryable, seen: AcquirerDispute): Promise<boolean> {
  const rows = await db.query(
    named(
      'suspended_dispute_keep',
      sql`
        insert into suspended_disputes as known (infraction_id, end_to_end_id, amount, status, opened_at)
        values (${seen.id}, ${seen.endToEndId}, ${seen.amountCents}, ${seen.status}, ${seen.openedAt})
        on conflict (infraction_id) do update
        set status = excluded.status,
            noted_at = now()
        where known.status <> excluded.status
        returning infraction_id`,
    ),
  );
  return rows.length === 1;
}
