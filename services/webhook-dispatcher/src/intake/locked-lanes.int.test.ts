import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database, type Transaction } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { databaseClock } from '#schedule-clock.ts';
import { anApplication } from '#test/an-application.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { OWNS_ALL, take } from '#test/store-event.ts';
import { watchDatabase } from '#test/watch-database.ts';

import { createAccountsBehind } from './accounts-behind.ts';
import { startFanOut } from './fan-out.job.ts';
import type { ResourceEvent } from './read-event.ts';

const DAY_MS = 86_400_000;

let database: TestDatabase;
/** As the dispatcher's, which waits longer for a row. */
let impatient: Database;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  impatient = createPool({
    url: database.url,
    applicationName: 'test',
    max: 4,
    lockTimeoutMs: 100,
  });
});
afterAll(async () => {
  await impatient[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A merchant with one endpoint, whose lane is there. */
async function aMerchant() {
  const application = anApplication();
  const endpoint = await storeEndpoint(database.db, application.owner);
  await take(database.db, application.anEvent());
  return { ...application, lane: endpoint.id };
}

type Merchant = Awaited<ReturnType<typeof aMerchant>>;

async function hold(tx: Transaction, { lane }: Merchant): Promise<void> {
  const rows = await tx.query(sql`select id from lanes where id = ${lane} for update`);
  expect(rows).toHaveLength(1);
}

async function countsOf(events: readonly ResourceEvent[]): Promise<number[]> {
  return await Promise.all(
    events.map(async ({ event_id }) => (await readStoredDeliveries(database.db, event_id)).length),
  );
}

async function idsSetAside(): Promise<string[]> {
  const rows = await database.db.query<{ id: string }>(
    sql`select event_id as id from set_aside_events order by event_id`,
  );
  return rows.map(({ id }) => id);
}

const idsOf = (events: readonly ResourceEvent[]) =>
  events.map(({ event_id }) => event_id).toSorted();

/** What one process has; the fan-out begins when it is told to. */
function aProcess() {
  const signal = createWakeSignal();
  const behind = createAccountsBehind(signal);
  const startFanOutHere = () =>
    startFanOut({
      db: impatient,
      scheduleClock: databaseClock,
      wakeSenders: () => undefined,
      sender: null,
      behind,
      logger: createLogger('test', 'silent'),
      signal,
      toRawMessage: () => expect.unreachable('nothing is parked'),
    });
  return { behind, startFanOut: startFanOutHere };
}

describe('while another transaction holds the lane of a merchant', () => {
  test.each([
    { road: 'decided under the locks', sender: null },
    { road: 'in one statement', sender: OWNS_ALL },
  ])('its events are set aside and those of others are stored, $road', async ({ sender }) => {
    const [one, other] = [await aMerchant(), await aMerchant()];
    const { behind, startFanOut: fanOut } = aProcess();
    const [held, free] = [
      [one.anEvent(), one.anEvent(), one.anEvent()],
      [other.anEvent(), other.anEvent()],
    ];
    await database.db.transaction(async (tx) => {
      await hold(tx, one);
      await take(impatient, [held[0]!, free[0]!, held[1]!], { sender, behind });
      // Behind what waits already nothing is tried.
      await take(impatient, [held[2]!, free[1]!], { sender, behind });
      expect(await countsOf(free)).toEqual([1, 1]);
      expect(await countsOf(held)).toEqual([0, 0, 0]);
      expect(await idsSetAside()).toEqual(idsOf(held));
    });
    await using _fanOut = fanOut();
    await eventually(async () => expect(await idsSetAside()).toEqual([]));
    expect(await countsOf(held)).toEqual([1, 1, 1]);
  });

  test('what is set aside of others is fanned out', async () => {
    const [one, other] = [await aMerchant(), await aMerchant()];
    const { behind, startFanOut: fanOut } = aProcess();
    const events = [one.anEvent(), other.anEvent()];
    behind.add([{ accountId: other.owner.accountId }]);
    await database.db.transaction(async (tx) => {
      await hold(tx, one);
      await take(impatient, events, { behind });
      expect(await idsSetAside()).toEqual(idsOf(events));
      await using _fanOut = fanOut();
      await eventually(async () => expect(await countsOf(events)).toEqual([0, 1]));
    });
    await using _fanOut = fanOut();
    await eventually(async () => expect(await idsSetAside()).toEqual([]));
  });

  test('an event that may be too old to wait comes again', async () => {
    const one = await aMerchant();
    const occurredAt = new Date(Date.now() - 10 * DAY_MS);
    const old = one.anEvent({
      event_id: smallestIdOf(occurredAt.getTime()),
      occurred_at: occurredAt.toISOString(),
    });
    await database.db.transaction(async (tx) => {
      await hold(tx, one);
      await expect(take(impatient, old)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      expect(await idsSetAside()).toEqual([]);
    });
    await take(impatient, old);
    expect(await countsOf([old])).toEqual([1]);
  });
});

test('while the table of lanes is locked, everything is set aside after few tries', async () => {
  const merchants = Array.from({ length: 20 }, () => anApplication(newId()));
  for (const { owner } of merchants) await storeEndpoint(database.db, owner);
  const events = merchants.map(({ anEvent }) => anEvent());
  const { behind, startFanOut: fanOut } = aProcess();
  const db = watchDatabase(impatient);
  await database.db.transaction(async (tx) => {
    await tx.query(sql`lock table lanes in access exclusive mode`);
    await take(db, events, { behind });
    expect(await idsSetAside()).toEqual(idsOf(events));
  });
  expect(db.seen.statements.filter((name) => name === 'lanes_lock_to_queue')).toHaveLength(4);
  await using _fanOut = fanOut();
  await eventually(async () => expect(await idsSetAside()).toEqual([]));
  expect(await countsOf(events)).toEqual(Array(20).fill(1));
});
