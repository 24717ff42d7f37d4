import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findRate, storeRate } from '#rates/delivery-rates.sql.ts';
import { databaseClock, type ScheduleClock } from '#schedule-clock.ts';
import { turnableClock } from '#test/test-sender.ts';

import { createDeliveryRates } from './delivery-rates.ts';
import type { LaneRequest } from './fetch-due.sql.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

/** A limited account, and lanes of it by their places. */
async function anAccount(perSecondMax: number): Promise<string> {
  const accountId = newId();
  await storeRate(database.db, { accountId, perSecondMax, version: 1 });
  return accountId;
}

/** As one sender has them; each lane is of the account with its id. */
const startRates = (clock: ScheduleClock = databaseClock) =>
  createDeliveryRates({ db: database.db, clock, accountOf: (laneId) => laneId });

const request = (id: string, take: number): LaneRequest => ({
  id,
  take,
  recovered: 0,
  wantsOther: false,
  inFlight: [],
});

const secondsSince = (ms: number) => (performance.now() - ms) / 1_000;

const sum = (requests: readonly LaneRequest[]) => requests.reduce((all, { take }) => all + take, 0);

test('over all senders an account gets its limit and a burst of half a second, no less and no more', async () => {
  const beganMs = performance.now();
  const accountId = await anAccount(20);
  const clock = turnableClock();
  const senders = [startRates(clock), startRates(clock), startRates(clock)];
  let total = 0;
  let steps = 0;
  for (; steps < 30; steps += 1) {
    const asked = senders.map((rates) => rates.admit([request(accountId, 50)]));
    for (const admitted of await Promise.all(asked)) total += sum(admitted);
    // In steps shorter than a burst lasts.
    clock.advance(400);
  }
  const lastedS = steps * 0.4;
  expect(total).toBeGreaterThanOrEqual(20 * (lastedS - 1));
  // Beside the clock that is turned, real time passes too.
  expect(total).toBeLessThanOrEqual(20 * (lastedS + secondsSince(beganMs)) + 10);
});

test('what is over it waits, and the account is asked about again soon', async () => {
  const accountId = await anAccount(2);
  const free = newId();
  const clock = turnableClock();
  const rates = startRates(clock);
  const admitted = await rates.admit([request(accountId, 5), request(free, 7)]);
  expect(admitted.map(({ id, take }) => [id, take])).toEqual([[free, 7]]);
  expect(rates.paused()).toEqual(new Set([accountId]));
  await eventually(() => expect(rates.paused()).toEqual(new Set()));
  clock.advance(10_000);
  expect(sum(await rates.admit([request(accountId, 5)]))).toBe(1);
});

test('an account is at its limit once senders have taken all of it, and not while less is wanted', async () => {
  const accountId = await anAccount(20);
  const clock = turnableClock();
  const rates = startRates(clock);
  const isReached = async () => (await findRate(database.db, clock, accountId))?.isReached;
  clock.advance(10_000);
  expect(sum(await rates.admit([request(accountId, 3)]))).toBe(3);
  expect(await isReached()).toBe(false);
  await rates.admit([request(accountId, 50)]);
  expect(await isReached()).toBe(true);
  clock.advance(10_000);
  expect(await isReached()).toBe(false);
  expect(await findRate(database.db, clock, newId())).toBeNull();
});

test('what was admitted and not found may be taken by any sender', async () => {
  const accountId = await anAccount(2);
  const clock = turnableClock();
  const [one, other] = [startRates(clock), startRates(clock)];
  clock.advance(10_000);
  const admitted = await one.admit([request(accountId, 10)]);
  expect(sum(admitted)).toBe(1);
  expect(await one.returnUnused(admitted, [])).toBe(true);
  expect(one.paused()).toEqual(new Set());
  expect(sum(await other.admit([request(accountId, 10)]))).toBe(1);
});

test('however often nothing is found, no more than a burst may be sent at once', async () => {
  const accountId = await anAccount(20);
  const clock = turnableClock();
  const senders = [startRates(clock), startRates(clock)];
  for (let polls = 0; polls < 10; polls += 1) {
    for (const rates of senders)
      await rates.returnUnused(await rates.admit([request(accountId, 50)]), []);
    clock.advance(200);
  }
  const beganMs = performance.now();
  let total = 0;
  for (const rates of senders) {
    total += sum(await rates.admit([request(accountId, 50)]));
    total += sum(await rates.admit([request(accountId, 50)]));
  }
  // Beside the clock that is turned, real time passes too.
  expect(total).toBeLessThanOrEqual(10 + 20 * secondsSince(beganMs));
  expect(total).toBeGreaterThanOrEqual(10);
});

test('a change is known to senders within seconds; of two the one with the higher version stands', async () => {
  const accountId = newId();
  const rates = startRates();
  const store = (perSecondMax: number | null, version: number) =>
    storeRate(database.db, { accountId, perSecondMax, version });
  const admitted = async () => sum(await rates.admit([request(accountId, 1_000)]));
  expect(await admitted()).toBe(1_000);
  await store(7, 2);
  await store(9, 1);
  expect(await findRate(database.db, databaseClock, accountId)).toMatchObject({ max: 7 });
  await eventually(async () => expect(await admitted()).toBeLessThan(1_000));
  await store(null, 3);
  await eventually(async () => expect(await admitted()).toBe(1_000));
});
