import { type AccountId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { databaseClock } from '#schedule-clock.ts';
import { anApplication } from '#test/an-application.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { patchEndpoint, removeStoredEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { watchDatabase } from '#test/watch-database.ts';

import { createAccountsBehind } from './accounts-behind.ts';
import {
  accountsSetAsideStatement,
  countSetAside,
  countSetAsideStatement,
  listAccountsSetAside,
} from './count-set-aside.sql.ts';
import { compareEvents } from './compare-events.ts';
import { startFanOut } from './fan-out.job.ts';
import type { ResourceEvent } from './read-event.ts';
import { takeStatement } from './set-aside-events.sql.ts';

const OWN = 'http://own.receiver.example.com/hook';
const ENDPOINTS = 100;
/** Of so many endpoints, what one transaction takes. */
const SHARE = 10;
const LONG_AGO_ID = '016808e4-8000-7000-8000-000000000001';
const LONG_AGO = '2019-01-01T00:00:00.000Z';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

/** A merchant each of whose events makes a hundred deliveries. */
async function aMerchantOfMany() {
  const application = anApplication();
  const endpoints = [];
  for (let count = 0; count < ENDPOINTS; count += 1) {
    endpoints.push(await storeEndpoint(database.db, application.owner));
  }
  const events = (count: number, changes: Parameters<typeof application.anEvent>[0] = {}) =>
    Array.from({ length: count }, () => application.anEvent(changes));
  return { ...application, endpoints, events };
}

/** What one process knows and does; its fan-out begins when it is told to. */
function aProcess(db: Database = database.db, lines: string[] = []) {
  const signal = createWakeSignal();
  const behind = createAccountsBehind(signal);
  return {
    take: (events: ResourceEvent | readonly ResourceEvent[]) => take(db, events, { behind }),
    startFanOut: (fanOutDb = db) =>
      startFanOut({
        db: fanOutDb,
        scheduleClock: databaseClock,
        wakeSenders: () => undefined,
        sender: null,
        behind,
        logger: createLogger('test', 'warn', { write: (line) => void lines.push(line) }),
        signal,
        toRawMessage: () => expect.unreachable('nothing is parked'),
      }),
  };
}

async function countOf(events: readonly ResourceEvent[]): Promise<number[]> {
  return await Promise.all(
    events.map(async ({ event_id }) => (await readStoredDeliveries(database.db, event_id)).length),
  );
}

async function countWaiting(accountId?: AccountId): Promise<number> {
  const [row] = await database.db.query<{ count: number }>(sql`
    select count(*)::int as count from set_aside_events
    where account_id = ${accountId ?? null} or ${accountId ?? null}::uuid is null`);
  return row!.count;
}

async function untilNothingWaits(): Promise<void> {
  await eventually(async () => expect(await countWaiting()).toBe(0), 60_000);
}

describe('of an account that makes more deliveries than its share of a batch', () => {
  test('the rest waits, and everything of others is stored in the same batch', async () => {
    const [one, other] = [await aMerchantOfMany(), anApplication()];
    const [many, few] = [
      one.events(40),
      [other.anEvent({ url: OWN }), other.anEvent({ url: OWN })],
    ];
    const db = watchDatabase(database.db);
    await aProcess(db).take([...many, ...few]);
    expect(await countOf(many)).toEqual([...Array(SHARE).fill(ENDPOINTS), ...Array(30).fill(0)]);
    expect(await countOf(few)).toEqual([1, 1]);
    expect(await countWaiting(one.owner.accountId)).toBe(30);
    expect(db.seen.statements.filter((name) => name === 'events_set_aside')).toHaveLength(1);
  });

  test('each event makes once what it would have made at once', async () => {
    const one = await aMerchantOfMany();
    const paused = one.endpoints[0]!;
    await patchEndpoint(database.db, paused, { active: false });
    const events = one.events(20, { url: one.endpoints[1]!.url });
    const here = aProcess();
    await here.take(events);
    await using _fanOut = here.startFanOut();
    await untilNothingWaits();
    const texts = await Promise.all(
      events.map(async ({ event_id }) =>
        (await readStoredDeliveries(database.db, event_id))
          .map(({ endpoint, status, forOwn, laneId, isQueued }) =>
            [endpoint, status, forOwn, laneId, isQueued].join(' '),
          )
          .toSorted(),
      ),
    );
    expect(texts[0]).toHaveLength(ENDPOINTS);
    expect(texts).toEqual(Array(20).fill(texts[0]));
  });

  test('an endpoint that is deleted or paused while they wait is judged as by a late intake', async () => {
    const one = await aMerchantOfMany();
    const [deleted, paused] = one.endpoints;
    const here = aProcess();
    const [last] = one.events(SHARE + 1).toReversed();
    await here.take([...one.events(SHARE), last!]);
    await removeStoredEndpoint(database.db, deleted!);
    await patchEndpoint(database.db, paused!, { active: false });
    await using _fanOut = here.startFanOut();
    await untilNothingWaits();
    const stored = await readStoredDeliveries(database.db, last!.event_id);
    const ofEndpoint = (id: string) => stored.filter(({ endpoint }) => endpoint === id);
    expect([stored.length, ofEndpoint(deleted!.id).length]).toEqual([ENDPOINTS - 1, 0]);
    expect(ofEndpoint(paused!.id)).toMatchObject([{ status: 'pending', isQueued: true }]);
  });

  test('the URL of a resource is that of its first event, whichever is fanned out first', async () => {
    const one = await aMerchantOfMany();
    const here = aProcess();
    const { data } = one.anEvent();
    const first = one.anEvent({ url: OWN, charge: { id: data.id }, sequence: 1 });
    const second = one.anEvent({
      url: 'http://late.receiver.example.com/',
      charge: { id: data.id },
      sequence: 2,
    });
    await here.take([...one.events(SHARE), first]);
    await here.take(second);
    await using _fanOut = here.startFanOut();
    await untilNothingWaits();
    const urls = await database.db.query(
      sql`select url from destinations where resource_id = ${data.id}`,
    );
    expect(urls).toEqual([{ url: OWN }]);
    expect(await countOf([first, second])).toEqual([ENDPOINTS + 1, ENDPOINTS + 1]);
  });

  test('what comes later waits behind it', async () => {
    const one = await aMerchantOfMany();
    const here = aProcess();
    await here.take(one.events(SHARE + 1));
    const later = one.anEvent();
    await here.take(later);
    expect(await countOf([later])).toEqual([0]);
    await using _fanOut = here.startFanOut();
    await untilNothingWaits();
    const next = one.anEvent();
    await eventually(async () => {
      await here.take(next);
      expect(await countOf([later, next])).toEqual([ENDPOINTS, ENDPOINTS]);
    });
  });

  test('an event that may be too old to be stored does not wait: it is refused now or not at all', async () => {
    const one = await aMerchantOfMany();
    const old = one.anEvent({ event_id: LONG_AGO_ID, occurred_at: LONG_AGO, url: OWN });
    const here = aProcess();
    await here.take(one.events(20));
    await here.take(old);
    expect(await countOf([old])).toEqual([1]);
    await using _fanOut = here.startFanOut();
    await untilNothingWaits();
  });

  test('the reconciliation misses nothing of what waits', async () => {
    const one = await aMerchantOfMany();
    const events = one.events(20);
    await aProcess().take(events);
    const compared = await compareEvents(
      { db: database.db, isDispatched: () => true, handledUntil: async () => new Date() },
      {
        after: newId(),
        until: newId(),
        types: ['charge.pix.created'],
        events: events.map(({ event_id, type, account_id, application_id, occurred_at }) => {
          return {
            event_id,
            type,
            account_id,
            application_id,
            occurred_at,
            has_url: false,
          } as never;
        }),
      },
    );
    expect(compared.missing).toEqual([]);
    await using _fanOut = aProcess().startFanOut();
    await untilNothingWaits();
    expect(await countOf(events)).toEqual(Array(20).fill(ENDPOINTS));
  });
});

describe('events that are set aside', () => {
  test('are fanned out one transaction of each account in turn', async () => {
    const merchants = [await aMerchantOfMany(), await aMerchantOfMany()];
    const here = aProcess();
    for (const { events } of merchants) await here.take(events(4 * SHARE));
    const turns: unknown[] = [];
    const db: Database = {
      ...database.db,
      query: async (statement) => {
        const rows = await database.db.query(statement);
        if (statement.name === 'set_aside_next_account') turns.push(rows);
        return rows as never;
      },
    };
    await using _fanOut = here.startFanOut(db);
    await untilNothingWaits();
    // Two events make 200 deliveries, and both have as many transactions.
    const served = turns.flat().map((row) => (row as { accountId: string }).accountId);
    const [first, second] = merchants.map(({ owner }) => owner.accountId).toSorted();
    expect(served).toEqual(Array.from({ length: (3 * SHARE) / 2 }, () => [first, second]).flat());
  });

  test('by several processes and repeated messages make one set of deliveries', async () => {
    const one = await aMerchantOfMany();
    const events = one.events(60);
    const processes = [aProcess(), aProcess(), aProcess()];
    await processes[0]!.take(events);
    await using _first = processes[0]!.startFanOut();
    await using _second = processes[1]!.startFanOut();
    await processes[2]!.take(events.toReversed());
    await using _third = processes[2]!.startFanOut();
    await untilNothingWaits();
    expect(await countOf(events)).toEqual(Array(60).fill(ENDPOINTS));
  });

  test('go on for other accounts where those of one cannot be stored now', async () => {
    const [one, other] = [await aMerchantOfMany(), await aMerchantOfMany()];
    const lines: string[] = [];
    const here = aProcess(database.db, lines);
    const events = other.events(20);
    await here.take(one.events(20));
    await here.take(events);
    const db: Database = {
      ...database.db,
      transaction: (work) =>
        database.db.transaction((tx) =>
          work({
            inTransaction: true,
            query: async (statement) => {
              const isOfOne = statement.values.includes(one.owner.accountId);
              if (statement.name === 'set_aside_take' && isOfOne) throw new Error('not now');
              return await tx.query(statement);
            },
          }),
        ),
    };
    await using _fanOut = here.startFanOut(db);
    await eventually(async () => {
      expect(await countOf(events)).toEqual(Array(20).fill(ENDPOINTS));
    }, 20_000);
    expect(await countWaiting(one.owner.accountId)).toBe(10);
    const failures = lines.filter((line) => line.includes('not fanned out'));
    expect(failures.length).toBeGreaterThan(0);
    for (const line of failures) expect(line).toContain(one.owner.accountId);
    await using _healthy = here.startFanOut();
    await untilNothingWaits();
  });

  test('are counted, with how long ago the oldest of all accounts happened', async () => {
    expect(await countSetAside(database.db)).toEqual({ count: 0, oldestSeconds: 0 });
    const merchants = [await aMerchantOfMany(), await aMerchantOfMany()];
    const anHourAgoMs = Date.now() - 3_600_000;
    const here = aProcess();
    for (const [place, { anEvent, events }] of merchants.entries()) {
      await here.take(events(SHARE + 1));
      await here.take(anEvent({ event_id: smallestIdOf(anHourAgoMs - place) }));
    }
    const counted = await countSetAside(database.db);
    expect(counted.count).toBe(4);
    expect(counted.oldestSeconds).toBeGreaterThan(3_590);
    // The second merchant's oldest is the older one.
    const listed = await listAccountsSetAside(database.db);
    expect(listed.map(({ accountId, count }) => [accountId, count])).toEqual(
      merchants.map(({ owner }) => [owner.accountId, 2]).toReversed(),
    );
    expect(listed[0]!.oldestSeconds).toBeGreaterThanOrEqual(counted.oldestSeconds);
    await using _fanOut = here.startFanOut();
    await untilNothingWaits();
  });

  test('are listed by the twenty accounts with the oldest', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    const now = Date.now();
    const accounts = Array.from({ length: 25 }, () => newId());
    for (const [place, accountId] of accounts.entries()) {
      const eventId = smallestIdOf(now - place * 60_000);
      await own.db.query(sql`
        insert into set_aside_events (
          account_id, event_id, type, resource_id, source, sequence, occurred_at, has_own_url, body_rest
        )
        select ${accountId}, ${eventId}, 'charge.pix.created', ${newId()}, 'api', 1, now(), false, ''`);
    }
    const listed = await listAccountsSetAside(own.db);
    expect(listed.map(({ accountId }) => accountId)).toEqual(accounts.slice(5).toReversed());
  });

  test('are found by keys, however many wait', async () => {
    const statements = [
      takeStatement(newId<AccountId>(), 10),
      countSetAsideStatement(),
      accountsSetAsideStatement(),
    ];
    for (const statement of statements) {
      expect((await genericPlan(database.db, statement)).scans).toEqual([]);
    }
  });
});
