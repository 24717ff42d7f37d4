import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/**
 * Condition on a row of `deliveries`: its destination still exists. A delivery that is also for the URL of its resource
 * goes there when the endpoint is deleted.
 */
export const isSendable = sql`(
            for_resource_url
            or endpoint_id is null
            or exists (select from endpoints where endpoints.id = endpoint_id and deleted_at is null)
          )`;

/** By keys alone. */
export async function isSendableNow(db: Queryable, deliveryId: string): Promise<boolean> {
  const rows = await db.query(
    named(
      'delivery_is_sendable',
      sql`select id from deliveries where id = ${deliveryId} and ${isSendable}`,
    ),
  );
  return rows.length === 1;
}
