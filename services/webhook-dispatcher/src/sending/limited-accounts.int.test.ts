import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { storeRate } from '#rates/delivery-rates.sql.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import { startTestSender, turnableClock } from '#test/test-sender.ts';

const PER_SECOND_MAX = 20;
const DELIVERIES = 15;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

const aSender = (receivers: Record<string, Receiver>) =>
  startTestSender({
    db: database.db,
    receivers: Object.fromEntries(
      Object.entries(receivers).map(([name, { port }]) => [name, port]),
    ),
    clock: turnableClock(),
    inFlightPerLaneMax: 1,
  });

const idsAt = ({ requests }: Receiver) =>
  requests.map(({ headers }) => String(headers['x-webhook-delivery']));

/** A lane of an account, with the ids of its deliveries in their order. */
const aLane = (accountId: string, name: string, count: number) =>
  aBacklog(database.db, {
    laneId: newId(),
    accountId,
    count,
    url: `http://${name}.receiver.example.com/hook`,
  });

test('deliveries over the limit of an account wait, in their order, and those of others do not', async () => {
  await using limited = await startReceiver();
  await using free = await startReceiver();
  const accountId = newId();
  const lanes = [
    await aLane(accountId, 'limited', DELIVERIES),
    await aLane(accountId, 'limited', DELIVERIES),
  ];
  await aLane(newId(), 'free', 60);
  const storedMs = performance.now();
  await storeRate(database.db, { accountId, perSecondMax: PER_SECOND_MAX, version: 1 });
  await using _one = aSender({ limited, free });
  await using _two = aSender({ limited, free });
  await eventually(() => expect(free.requests).toHaveLength(60), 20_000);
  await eventually(() => expect(limited.requests).toHaveLength(2 * DELIVERIES), 20_000);
  for (const [place, { receivedMs }] of limited.requests.entries()) {
    const allowed = ((receivedMs - storedMs) / 1_000) * PER_SECOND_MAX;
    expect(place + 1).toBeLessThanOrEqual(Math.ceil(allowed));
  }
  for (const ids of lanes) {
    expect(idsAt(limited).filter((id) => ids.includes(id))).toEqual(ids);
  }
  await eventually(async () => {
    const rows = await database.db.query(sql`
      select status, count(*)::int as count
      from deliveries
      where account_id = ${accountId}
      group by status`);
    expect(rows).toEqual([{ status: 'succeeded', count: 2 * DELIVERIES }]);
  });
});

test('once a limit is removed, deliveries no longer wait for it', async () => {
  await using limited = await startReceiver();
  const accountId = newId();
  await aLane(accountId, 'limited', 60);
  const storedMs = performance.now();
  await storeRate(database.db, { accountId, perSecondMax: 2, version: 1 });
  await using _sender = aSender({ limited });
  await eventually(() => expect(limited.requests.length).toBeGreaterThan(0));
  // What half a second gives, but for the fraction of a millisecond that the database rounds.
  expect(limited.requests[0]!.receivedMs - storedMs).toBeGreaterThan(498);
  await storeRate(database.db, { accountId, perSecondMax: null, version: 2 });
  // Under the limit they take half a minute.
  await eventually(() => expect(limited.requests).toHaveLength(60), 20_000);
});

test('lanes of an account over its limit are not claimed and released in turn', async () => {
  await using limited = await startReceiver();
  const accountId = newId();
  const url = 'http://limited.receiver.example.com/hook';
  for (let lanes = 0; lanes < 200; lanes += 1) {
    await aBacklog(database.db, { laneId: newId(), accountId, count: 1, url });
  }
  await storeRate(database.db, { accountId, perSecondMax: 2, version: 1 });
  await using _sender = aSender({ limited });
  await eventually(() => expect(limited.requests.length).toBeGreaterThan(0), 20_000);
  const [claimed] = await database.db.query<{ count: number }>(sql`
    select count(*)::int as count from lanes where account_id = ${accountId} and fence > 0`);
  // One claim takes 64 of them.
  expect(claimed!.count).toBeLessThan(200);
});
