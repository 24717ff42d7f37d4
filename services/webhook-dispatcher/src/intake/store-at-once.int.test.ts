import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';
import { lockLanesToChange } from '#lanes/lanes.sql.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { anApplicationChange } from '#test/an-application-change.ts';
import { applyChange } from '#test/an-application.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import {
  patchEndpoint,
  removeStoredEndpoint,
  type StoredEndpoint,
  storeEndpoint,
} from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { watchDatabase } from '#test/watch-database.ts';

import type { LocalSender } from './store-events.ts';

const BEFORE = 'http://before.receiver.example.com/hook';
const AFTER = 'http://after.receiver.example.com/hook';
const AT_ONCE = ['endpoints_of_events', 'events_insert_at_once'];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

/** An application with an endpoint whose lane a sender owns, and what makes an event for it. */
async function aSubscriber(changes: Partial<StoredEndpoint> = {}) {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const endpoint = await storeEndpoint(database.db, { ...owner, url: BEFORE, ...changes });
  await database.db.query(sql`update lanes set leased = true where id = ${endpoint.id}`);
  const envelope = { account_id: owner.accountId, application_id: owner.applicationId };
  // Before all that a test then changes, also where both are of one millisecond.
  const occurredAt = new Date(Date.now() - 1_000).toISOString();
  const event = () => aChargeEvent({ ...envelope, url: null, occurred_at: occurredAt });
  return { owner, endpoint, event };
}

/** Owns every lane, and notes what it is given to send. */
function aSender(): LocalSender & { given: QueuedDelivery[] } {
  const given: QueuedDelivery[] = [];
  return {
    given,
    serves: () => true,
    prepareSends: () => (queued) => {
      given.push(...queued);
      return [];
    },
  };
}

function destinations({ given }: { given: readonly QueuedDelivery[] }): (string | undefined)[] {
  return given.map(({ due }) => due?.url);
}

describe('few events for an endpoint whose lane is owned', () => {
  test('cost two statements, and are sent at once', async () => {
    const { endpoint, event } = await aSubscriber();
    const events = [event(), event(), event()];
    const [db, sender] = [watchDatabase(database.db), aSender()];
    await take(db, events, { sender });
    expect(db.seen).toEqual({ statements: AT_ONCE, transactions: 0 });
    expect(destinations(sender)).toEqual([BEFORE, BEFORE, BEFORE]);
    for (const { event_id } of events) {
      expect(await readStoredDeliveries(database.db, event_id)).toMatchObject([
        { endpoint: endpoint.id, status: 'pending', isQueued: true },
      ]);
    }
  });

  test('are stored once, however often they come', async () => {
    const { event } = await aSubscriber();
    const [one, sender] = [event(), aSender()];
    await take(database.db, one, { sender });
    await take(database.db, one, { sender });
    expect(destinations(sender)).toEqual([BEFORE]);
    expect(await readStoredDeliveries(database.db, one.event_id)).toHaveLength(1);
  });

  test('are stored by a transaction where an endpoint would not be sent to', async () => {
    const { owner, event } = await aSubscriber();
    await storeEndpoint(database.db, { ...owner, active: false });
    const one = event();
    const db = watchDatabase(database.db);
    await take(db, one, { sender: aSender() });
    expect(db.seen.transactions).toBe(1);
    const stored = await readStoredDeliveries(database.db, one.event_id);
    expect(stored.map(({ status }) => status).toSorted()).toEqual(['pending', 'skipped']);
  });

  test('are stored by a transaction where the lane of an endpoint that stands for their URL is not owned', async () => {
    const { owner, endpoint } = await aSubscriber();
    const own = aChargeEvent({
      account_id: owner.accountId,
      application_id: owner.applicationId,
      url: BEFORE,
    });
    const db = watchDatabase(database.db);
    await take(db, own, { sender: { ...aSender(), serves: (ids) => !ids.includes(endpoint.id) } });
    expect(db.seen.transactions).toBe(1);
    expect(await readStoredDeliveries(database.db, own.event_id)).toMatchObject([{ forOwn: true }]);
  });
});

describe('an endpoint that changes after it was read', () => {
  type Change = (db: Database, endpoint: StoredEndpoint) => Promise<unknown>;
  const CHANGES: [string, Change, { url: string | undefined; status: string }[]][] = [
    [
      'gets another URL',
      (db, endpoint) => patchEndpoint(db, endpoint, { url: AFTER }),
      [{ url: AFTER, status: 'pending' }],
    ],
    [
      'is paused',
      (db, endpoint) => patchEndpoint(db, endpoint, { active: false }),
      [{ url: undefined, status: 'pending' }],
    ],
    ['is deleted', (db, endpoint) => removeStoredEndpoint(db, endpoint), []],
    [
      'is of an application that is deactivated',
      (db, { accountId, applicationId }) =>
        applyChange(
          db,
          anApplicationChange({ accountId, applicationId, active: false, version: 2 }),
        ),
      [{ url: undefined, status: 'pending' }],
    ],
  ];

  test.each(CHANGES)('and %s is judged as it is now', async (_, change, expected) => {
    const { endpoint, event } = await aSubscriber();
    const [one, sender] = [event(), aSender()];
    let changed = false;
    const db = watchDatabase(database.db, async (name) => {
      if (changed || name !== 'events_insert_at_once') return;
      changed = true;
      await change(database.db, endpoint);
    });
    await take(db, one, { sender });
    expect(db.seen.transactions).toBe(1);
    const stored = await readStoredDeliveries(database.db, one.event_id);
    expect(stored.map(({ status }) => status)).toEqual(expected.map(({ status }) => status));
    expect(destinations(sender)).toEqual(expected.map(({ url }) => url));
  });

  test('and commits while the statement waits for its lane is judged as it is then', async () => {
    const { endpoint, event } = await aSubscriber();
    const [one, sender, db] = [event(), aSender(), watchDatabase(database.db)];
    let taking: Promise<void> | undefined;
    await database.db.transaction(async (tx) => {
      await lockLanesToChange(tx, [endpoint.id]);
      await tx.query(sql`update endpoints set url = ${AFTER} where id = ${endpoint.id}`);
      taking = take(db, one, { sender });
      await expect.poll(() => countLockWaits(database.db)).toBeGreaterThan(0);
    });
    await taking;
    expect(db.seen.statements.slice(0, 2)).toEqual(AT_ONCE);
    expect([destinations(sender), db.seen.transactions]).toEqual([[AFTER], 1]);
  });
});
