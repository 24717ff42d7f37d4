import { TOPICS } from '@pixmesh/contracts/topics';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import { ensureEventPartitions } from '@pixmesh/postgres/partition-upkeep';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createMeshDatabase, createTestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker, testInfra } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { startOutbox } from './outbox.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

/** Every service with an outbox, by its schema. */
const SCHEMAS = ['charges', 'gateway', 'ledger', 'payouts'];
/** For so long a reader's transaction stays open. */
const OPEN_MS = scaled(500, 60_000);
/** From the commit of an event until it has left the outbox; a machine that does other things too takes its time. */
const AGE_MS_MAX = scaled(5_000, 1_000);
const PATIENCE_MS = 20_000;

test('every schema with an outbox is among those that are tried', async () => {
  await using mesh = await createMeshDatabase('gateway');
  await using admin = createPool({ url: mesh.adminUrl, applicationName: 'month-turn', max: 1 });
  const rows = await admin.query<{ schema: string }>(sql`
    select schemaname as schema from pg_tables where tablename = 'outbox' order by schemaname`);
  expect(rows.map(({ schema }) => schema)).toEqual(SCHEMAS);
});

test.each(SCHEMAS)(
  'a reader whose transaction is open while %s has to make months holds up neither them nor an event',
  async (schema) => {
    await using database = await createTestDatabase(schema);
    const adminUrl = `${database.adminUrl}?options=-c%20search_path%3D${schema}`;
    await using admin = createPool({ url: adminUrl, applicationName: 'month-turn', max: 2 });
    // The month may have turned since the database was made.
    await ensureEventPartitions(database.db);
    const complete = await countMonths(admin);
    await dropMonthsToCome(admin);
    expect(await countMonths(admin)).toBeLessThan(complete);
    const { topicPrefix } = await createTestTopics();
    const signal = createWakeSignal();
    const ages = await admin.transaction(async (reader) => {
      await reader.query(sql`set local idle_in_transaction_session_timeout = 0`);
      await reader.query(sql`select count(*) from events`);
      // Its first look at the months comes with its start.
      await using _outbox = startOutbox({
        service: schema,
        ...testBroker(),
        registryUrl: testInfra().registryUrl,
        topicPrefix,
        db: database.db,
        logger: createLogger('month-turn', 'silent'),
        produces: [TEST_MESSAGE],
        signal,
        onFatal: (error) => {
          throw error;
        },
      });
      const published = await publishFor(OPEN_MS, { db: database.db, wake: signal.notify });
      expect(await countMonths(admin)).toBeGreaterThanOrEqual(complete);
      return published;
    });
    const longest = Math.max(...ages);
    process.stdout.write(
      `${schema}: ${ages.length} events, the longest ${Math.round(longest)} ms queued\n`,
    );
    expect(longest).toBeLessThanOrEqual(AGE_MS_MAX);
    await using topic = followTopic(topicPrefix, TOPICS.ledgerEvents);
    await eventually(() => {
      const numbers = topic.messages.map(({ headers }) => Number(headers['number']));
      expect(numbers).toEqual([0, ...ages.map((_, index) => index + 1)]);
    }, PATIENCE_MS);
  },
  OPEN_MS + 60_000,
);

/** One event after the other, each as soon as the one before has left the outbox. Answers how long each was queued. */
async function publishFor(durationMs: number, outbox: Outbox): Promise<number[]> {
  // The start of what publishes is not what is measured.
  await publishOne(0, outbox);
  const endMs = performance.now() + durationMs;
  const ages: number[] = [];
  while (performance.now() < endMs) ages.push(await publishOne(ages.length + 1, outbox));
  return ages;
}

type Outbox = { db: Database; wake(): void };

async function publishOne(number: number, { db, wake }: Outbox): Promise<number> {
  const sinceMs = performance.now();
  await append(db, anEvent(number));
  wake();
  await eventually(async () => {
    expect(await db.query(sql`select from outbox`)).toEqual([]);
  }, PATIENCE_MS);
  return performance.now() - sinceMs;
}

function anEvent(number: number): OutboundEvent {
  const message = aWireMessage(number);
  const { topic, type } = TEST_MESSAGE;
  const headers = { number: String(number) };
  return { eventId: message.event_id, topic, key: 'key', type, sequence: null, headers, message };
}

async function append(db: Database, event: OutboundEvent): Promise<void> {
  const pair = appendEvents(sql`select from guard`, [event]);
  await db.query(sql`with guard as (select 1), ${pair} select from guard`);
}

async function countMonths(admin: Database): Promise<number> {
  return (await admin.query(sql`select from pg_inherits where inhparent = 'events'::regclass`))
    .length;
}

/** As if upkeep had not run for a year: the month that begins next is missing, too. */
async function dropMonthsToCome(admin: Database): Promise<void> {
  await admin.query(sql`
    do $$
    declare
      month regclass;
    begin
      for month in
        select inhrelid::regclass from pg_inherits
        where inhparent = 'events'::regclass
          and inhrelid::regclass::text > 'events_' || to_char(now() at time zone 'UTC', 'YYYYMM')
      loop
        execute format('drop table %s', month);
      end loop;
    end
    $$`);
}
