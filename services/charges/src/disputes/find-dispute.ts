import type { DisputeId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** The newest dispute of a Pix, which a return under the MED belongs to. */
export async function findDisputeId(db: Queryable, endToEndId: string): Promise<DisputeId | null> {
  const rows = await db.query<{ id: DisputeId }>(
    named(
      'find_dispute_of_pix',
      sql`
        select id from disputes where end_to_end_id = ${endToEndId}
        order by opened_at desc limit 1`,
    ),
  );
  return rows[0]?.id ?? null;
}
