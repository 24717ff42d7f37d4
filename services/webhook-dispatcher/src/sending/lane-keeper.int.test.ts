import { newId, NIL_ID } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { lockLanesToQueue } from '#lanes/lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';

import { createLaneKeeper } from './lane-keeper.ts';

/** No shorter than a lease, so that each renewal renews all lanes. */
const TIMEOUT_MS = 60_000;

test('a lane that is claimed before it has its account is counted for that account once it has', async () => {
  await using database = await createTestDatabase('webhook_dispatcher');
  const [laneId, accountId] = [newId(), newId()];
  const keeper = createLaneKeeper({
    db: database.db,
    logger: createLogger('test', 'silent'),
    clock: databaseClock,
    timeoutMs: TIMEOUT_MS,
    leaseMs: TIMEOUT_MS,
    owner: newId(),
  });
  await database.db.query(
    sql`insert into lanes (id, claimable_at) values (${laneId}, now() - interval '1 second')`,
  );
  await keeper.claim(1, new Set());
  expect(keeper.lanes.get(laneId)?.accountId).toBe(NIL_ID);
  await lockLanesToQueue(database.db, [{ id: laneId, accountId }]);
  await keeper.renew();
  expect(keeper.lanes.get(laneId)?.accountId).toBe(accountId);
});
