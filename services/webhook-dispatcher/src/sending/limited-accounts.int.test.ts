import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { storeRate, takeFromRates } from '#rates/delivery-rates.sql.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import { testEnvironment } from '#test/test-dispatcher.ts';
import { startTestSender, turnableClock } from '#test/test-sender.ts';

const PER_SECOND_MAX = 20;
const DELIVERIES = 15;
/** Renewed in time also by a process that gets little of a busy machine. */
const LEASE_MS = 60_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

const aSender = (receivers: Record<string, Receiver>, inFlightPerLaneMax = 1) =>
  startTestSender({
    db: database.db,
    receivers: Object.fromEntries(
      Object.entries(receivers).map(([name, { port }]) => [name, port]),
    ),
    clock: turnableClock(),
    inFlightPerLaneMax,
    leaseMs: LEASE_MS,
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

test('once a clock that was ahead is set back, a limit gives what comes in from then on', async () => {
  const accountId = newId();
  await storeRate(database.db, { accountId, perSecondMax: 10, version: 1 });
  await database.db.query(sql`
    update delivery_rates set filled_at = now() + interval '1 hour' where account_id = ${accountId}`);
  const clock = turnableClock();
  const take = async () => await takeFromRates(database.db, clock, [{ accountId, count: 9 }]);
  expect(await take()).toEqual([{ accountId, count: 0 }]);
  clock.advance(10_000);
  expect(await take()).toEqual([{ accountId, count: 5 }]);
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

test('a lane that becomes due is served beside one of its account that has a long backlog', async () => {
  await using busy = await startReceiver();
  await using late = await startReceiver();
  const accountId = newId();
  await aLane(accountId, 'busy', 500);
  await storeRate(database.db, { accountId, perSecondMax: 10, version: 1 });
  await using _sender = aSender({ busy, late }, 10);
  await eventually(() => expect(busy.requests.length).toBeGreaterThan(5), 20_000);
  await aLane(accountId, 'late', 3);
  await eventually(() => expect(late.requests).toHaveLength(3), 20_000);
});

test('a lane that becomes due has its turn, however many of its account wait with backlogs', async () => {
  await using busy = await startReceiver();
  await using late = await startReceiver();
  const accountId = newId();
  // More than are claimed of an account that is paused.
  for (let lanes = 0; lanes < 20; lanes += 1) await aLane(accountId, 'busy', 50);
  await storeRate(database.db, { accountId, perSecondMax: 20, version: 1 });
  await using _sender = aSender({ busy, late });
  await eventually(() => expect(busy.requests.length).toBeGreaterThan(20), 20_000);
  await aLane(accountId, 'late', 1);
  await eventually(() => expect(late.requests).toHaveLength(1), 20_000);
});

test('lanes of an account over its limit are not claimed and released in turn', async () => {
  await using limited = await startReceiver();
  const accountId = newId();
  for (let lanes = 0; lanes < 200; lanes += 1) await aLane(accountId, 'limited', 1);
  await storeRate(database.db, { accountId, perSecondMax: 2, version: 1 });
  await using _sender = aSender({ limited });
  await eventually(() => expect(limited.requests.length).toBeGreaterThan(6), 20_000);
  const [row] = await database.db.query<{ claims: number }>(sql`
    select sum(fence)::int as claims from lanes where account_id = ${accountId}`);
  // One claim takes 64 of them.
  expect(row!.claims).toBeLessThanOrEqual(64);
});

test('what waits for the limit of its account is no late delivery of ours, and what does not wait may be', async () => {
  await using receiver = await startReceiver();
  const [over, within] = [newId(), newId()];
  for (const accountId of [over, within])
    await storeRate(database.db, { accountId, perSecondMax: 10, version: 1 });
  // Five of each may be sent at once.
  await database.db.query(sql`
    update delivery_rates set filled_at = now() - interval '1 minute'
    where account_id = any (${[over, within]}::uuid[])`);
  await aLane(over, 'limited', 12);
  await aLane(within, 'limited', 4);
  await using sender = await startDispatcherProcess({
    ...testEnvironment({ databaseUrl: database.url, receiverPort: receiver.port }),
    ROLES: 'sender',
  });
  await eventually(() => expect(receiver.requests).toHaveLength(16), 20_000);
  expect(await sender.readCounter('webhook_event_to_first_attempt_seconds_count')).toBe(5 + 4);
}, 60_000);
