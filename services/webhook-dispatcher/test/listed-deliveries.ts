import type { Database } from '@pixmesh/postgres/pool';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { listLog } from '#deliveries/delivery-log.sql.ts';
import type { StoredDelivery } from '#deliveries/describe-deliveries.sql.ts';

const LIMIT = 100;

/** Every delivery of one resource, newest first. */
export async function readDeliveries(db: Database, resourceId: string): Promise<StoredDelivery[]> {
  return await listLog(db, { resourceId }, { limit: LIMIT, startingAfter: null });
}

/** The one delivery of a resource, once it has come this far. */
export async function untilDelivery(
  db: Database,
  resourceId: string,
  state: object,
): Promise<StoredDelivery> {
  return await eventually(async () => {
    const [delivery, ...others] = await readDeliveries(db, resourceId);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject(state);
    return delivery!;
  });
}
