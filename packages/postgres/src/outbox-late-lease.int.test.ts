import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { appendEvents, type OutboundEvent, outboundEvent } from './events.ts';
import { FROM_START, type Publish, relayOnce, type Unpublished } from './outbox-relay.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

const logger = createLogger('late-lease-test', 'silent');
/** An advisory lock, as the policy below names it: the late relay waits for it between its snapshot and the lease. */
const TEST_LOCK = 1;
const ALL_GONE: Unpublished = { invalid: new Map(), postponed: new Set() };

let database: TestDatabase;
let admin: Database;
let late: Database;
let published: (number | null)[];

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  admin = createPool({ url: database.adminUrl, applicationName: 'late-lease-test', max: 2 });
  late = createPool({ url: database.url, applicationName: 'late-relay', max: 1 });
  await admin.query(sql`
    create function ledger.wait_for_test(lock bigint) returns boolean language plpgsql as $$
    begin
      if current_setting('application_name') = 'late-relay' then
        perform pg_advisory_xact_lock_shared(lock);
      end if;
      return true;
    end
    $$`);
  await admin.query(sql`alter table ledger.leases enable row level security`);
  await admin.query(sql`create policy wait on ledger.leases using (ledger.wait_for_test(1))`);
});

beforeEach(async () => {
  await admin.query(sql`truncate ledger.events, ledger.outbox, ledger.dead_letters`);
  published = [];
});

afterAll(async () => {
  await late[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('an event that was put back is not passed by one of its key, whoever takes the lease next', async () => {
  await append(1);
  await relayBehind({ publish: async (events) => ({ ...ALL_GONE, postponed: idsOf(events) }) }, {});
  expect(published).toEqual([]);
  await relayOnce({ db: database.db, logger, publish });
  expect(published).toEqual([1, 2]);
});

test('an event of the key of a parked one stays queued, although the lease changes hands', async () => {
  await append(1);
  const parks: Publish = (events) => {
    const invalid = new Map(events.map(({ eventId }) => [eventId, 'an unknown field']));
    return Promise.resolve({ ...ALL_GONE, invalid });
  };
  await relayBehind({ publish: parks }, {});
  await relayOnce({ db: database.db, logger, publish });
  expect(published).toEqual([]);
});

test('an event that has left a queue that waits is not sent again by whoever takes the lease next', async () => {
  await append(1);
  await relayBehind({ publish, pass: FROM_START }, { pass: FROM_START });
  expect(published).toEqual([1]);
  await relayOnce({ db: database.db, logger, publish });
  expect(published).toEqual([1, 2]);
});

type Relayed = { publish: Publish; pass?: typeof FROM_START };

/** One relay works and commits while the statement of another one has begun and does not have the lease yet. */
async function relayBehind(first: Relayed, second: Pick<Relayed, 'pass'>): Promise<void> {
  const [isReading, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slowly: Publish = async (events) => {
    isReading.resolve();
    await mayEnd.promise;
    return await first.publish(events);
  };
  const working = relayOnce({ db: database.db, logger, publish: slowly }, first.pass);
  await isReading.promise;
  await append(2);
  let waiting: Promise<unknown> = Promise.resolve();
  await admin.transaction(async (tx) => {
    await tx.query(sql`select pg_advisory_xact_lock(${TEST_LOCK})`);
    waiting = relayOnce({ db: late, logger, publish }, second.pass);
    await eventually(async () => {
      const held = await admin.query(
        sql`
          select from pg_locks
          join pg_stat_activity using (pid)
          where application_name = 'late-relay' and locktype = 'advisory' and not granted
            and datname = current_database()`,
      );
      expect(held).toHaveLength(1);
    });
    mayEnd.resolve();
    await working;
  });
  await waiting;
}

const publish: Publish = async (events) => {
  published.push(...events.map(({ sequence }) => sequence));
  return ALL_GONE;
};

function idsOf(events: readonly { eventId: string }[]): Set<string> {
  return new Set(events.map(({ eventId }) => eventId));
}

async function append(sequence: number): Promise<void> {
  const pair = appendEvents(sql`select from guard`, [anEvent(sequence)]);
  await database.db.query(sql`with guard as (select 1), ${pair} select from guard`);
}

function anEvent(sequence: number): OutboundEvent {
  const amount = toCents(100);
  const credit = { command_id: newId(), journal_id: newId(), end_to_end_id: 'E1', charge_id: null };
  return outboundEvent(
    ReceivedPixCredited,
    { key: 'account', sequence },
    {
      event_id: newId(),
      type: 'received_pix.credited',
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: newId(),
      application_id: null,
      data: { ...credit, amount, balance: { available: amount, pending: toCents(0) } },
    },
  );
}
