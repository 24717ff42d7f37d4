import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { aBacklog } from '#test/a-backlog.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { startReceiver } from '#test/start-receiver.ts';
import { startTestSender, turnableClock } from '#test/test-sender.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

test('a database that is away while a request is out costs neither the attempt nor a second request, even past the lease', async () => {
  await using receiver = await startReceiver();
  const flaky = interruptible(database.db);
  await using sender = startTestSender({
    db: flaky.db,
    receivers: { shop: receiver.port },
    clock: turnableClock(),
  });
  flaky.failAfterNextFetch();
  const laneId = newId();
  const [id] = await aBacklog(database.db, { laneId, count: 1 });
  sender.wake();
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  await eventually(() => expect(flaky.refused()).toBeGreaterThanOrEqual(2));
  // The lease ends while the outcome waits: the lane looks free to every sender.
  await database.db.query(
    sql`update lanes set claimable_at = now() - interval '1 second' where leased`,
  );
  flaky.restore();
  await eventually(async () => {
    expect(await stateOf({ deliveryId: id! })).toEqual({ status: 'succeeded', attempts: 1 });
  });
  expect(receiver.requests).toHaveLength(1);
  // And it goes on by itself.
  await aBacklog(database.db, { laneId: newId(), count: 1 });
  await eventually(() => expect(receiver.requests).toHaveLength(2));
});

test('outcomes that one sender has not stored yet after an outage are not sent again by another one', async () => {
  await using receiver = await startReceiver();
  const [owns, other] = [interruptible(database.db), interruptible(database.db)];
  const aSender = ({ db }: typeof owns) =>
    startTestSender({ db, receivers: { shop: receiver.port }, clock: turnableClock() });
  owns.failAfterNextFetch();
  await using sender = aSender(owns);
  const [id] = await aBacklog(database.db, { laneId: newId(), count: 1 });
  sender.wake();
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  other.fail();
  await using _second = aSender(other);
  await eventually(() => expect(other.refused()).toBeGreaterThan(0));
  // The outage outlasts the lease, and the other sender is the first one behind it.
  await database.db.query(
    sql`update lanes set claimable_at = now() - interval '1 second' where leased`,
  );
  other.restore();
  const [later] = await aBacklog(database.db, { laneId: newId(), count: 1 });
  await eventually(async () => {
    expect(await stateOf({ deliveryId: later! })).toEqual({ status: 'succeeded', attempts: 1 });
  });
  owns.restore();
  await eventually(async () => {
    expect(await stateOf({ deliveryId: id! })).toEqual({ status: 'succeeded', attempts: 1 });
  });
  expect(receiver.requests).toHaveLength(2);
});

/** The real database behind a switch that makes it unavailable. */
function interruptible(real: Database) {
  let state: 'open' | 'armed' | 'away' = 'open';
  let refused = 0;
  const db: Database = {
    ...real,
    query: async (statement) => {
      if (state === 'away') {
        refused += 1;
        throw new AppError('DEPENDENCY_UNAVAILABLE');
      }
      const rows = await real.query(statement);
      if (state === 'armed' && statement.name === 'queue_fetch_due' && rows.length > 0) {
        state = 'away';
      }
      return rows as never;
    },
  };
  return {
    db,
    refused: () => refused,
    failAfterNextFetch: () => {
      state = 'armed';
    },
    fail: () => {
      state = 'away';
    },
    restore: () => {
      state = 'open';
    },
  };
}

async function stateOf({ deliveryId }: { deliveryId: string }): Promise<object | undefined> {
  const [row] = await database.db.query<object>(sql`
    select status, (select count(*)::int from attempts where delivery_id = deliveries.id) as attempts
    from deliveries where id = ${deliveryId}`);
  return row;
}
