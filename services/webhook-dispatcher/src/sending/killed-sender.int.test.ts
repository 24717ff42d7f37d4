import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { inFlightMaxOf } from '#lanes/owned-lane.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import { testEnvironment } from '#test/test-dispatcher.ts';

const PER_LANE_MAX = 10;
const LANE_MAX = inFlightMaxOf(PER_LANE_MAX);
const BACKLOG = 60;
/** Two starts of a process, on a machine that runs other tests as well. */
const TEST_TIMEOUT_MS = 120_000;

test(
  'a sender that is killed with all its outcomes unstored costs a lane as many repeats as it has slots twice, and no more',
  async () => {
    await using database = await createTestDatabase('webhook_dispatcher');
    await using receiver = await startReceiver();
    const env = {
      ...testEnvironment({ databaseUrl: database.url, receiverPort: receiver.port }),
      ROLES: 'sender',
      DELIVERY_IN_FLIGHT_PER_LANE_MAX: String(PER_LANE_MAX),
    };
    await using first = await startDispatcherProcess(env);
    await using admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 2 });
    await admin.transaction(async (tx) => {
      // Statements that record outcomes wait for this transaction.
      await tx.query(sql`lock table webhook_dispatcher.attempts in share mode`);
      await aBacklog(database.db, { laneId: newId(), count: BACKLOG });
      await eventually(() => expect(receiver.requests).toHaveLength(LANE_MAX));
      first.kill();
      expect(await first.ended()).toBe('SIGKILL');
      await endSessionsOfTheDead(admin);
    });
    await database.db.query(sql`update lanes set claimable_at = now() where leased`);

    await using second = await startDispatcherProcess(env);
    await eventually(async () => {
      expect(await database.db.query(sql`select id from queue`)).toEqual([]);
    });
    expect(new Set(receiver.requests.map(deliveryOf)).size).toBe(BACKLOG);
    expect(receiver.requests).toHaveLength(BACKLOG + LANE_MAX);
    expect(await second.readCounter('webhook_repeated_sends_total')).toBe(LANE_MAX);
    expect(await database.db.query(sql`select id from attempts`)).toHaveLength(BACKLOG);
  },
  TEST_TIMEOUT_MS,
);

/** What waits for the lock on behalf of the dead process would be stored after all, and then not be repeated. */
async function endSessionsOfTheDead(admin: Database): Promise<void> {
  await eventually(async () => {
    const waiting = await admin.query(sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    expect(waiting).toEqual([]);
  });
}

function deliveryOf({ headers }: Receiver['requests'][number]): unknown {
  return headers['x-webhook-delivery'];
}
