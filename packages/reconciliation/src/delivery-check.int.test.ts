import { COMPARED_EVENTS_MAX } from '@pixmesh/contracts/internal/compare-events';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createInternalClient } from '@pixmesh/http/internal-client';
import { newId, timeOfId } from '@pixmesh/kernel/ids';
import { listDeadLetters, parkMessage } from '@pixmesh/postgres/dead-letters';
import { OUTBOX_CONSUMER } from '@pixmesh/postgres/outbox-queue.sql';
import { dismissParkedEvent } from '@pixmesh/postgres/parked-events';
import { sql } from '@pixmesh/postgres/sql';
import { type DispatcherDouble, startDispatcherDouble } from '@pixmesh/testkit/dispatcher-double';
import { testIdentity } from '@pixmesh/testkit/mesh-calls';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { BREAKS_MAX } from './choose-kept.ts';
import { deliveryCheck } from './delivery-check.ts';

const TYPES = ['charge.pix.created'];
const ALL_AT = new Date(0);
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let dispatcher: DispatcherDouble;
let wakeUps: number;

beforeEach(async () => {
  database = await createTestDatabase('charges');
  dispatcher = await startDispatcherDouble();
  wakeUps = 0;
});
afterEach(async () => {
  await dispatcher[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('every event of the topic is compared once, in pages of ids without a hole between them', async () => {
  const ids = await writeEvents(COMPARED_EVENTS_MAX + 3);
  await writeEvents(1, TOPICS.ledgerCommands);
  const { compared, breaks } = await run();
  expect([compared, breaks]).toEqual([ids.length, []]);
  const [first, second] = dispatcher.asked;
  expect(dispatcher.asked).toHaveLength(2);
  expect(dispatcher.asked.flatMap(({ events }) => events.map((one) => one.event_id))).toEqual(ids);
  expect(second?.after).toBe(first?.until);
  expect(first).toMatchObject({
    types: TYPES,
    events: expect.arrayContaining([
      {
        event_id: ids[0],
        type: 'charge.pix.created',
        account_id: expect.any(String) as string,
        application_id: null,
        occurred_at: '2026-11-22T10:00:00.000Z',
        has_url: true,
      },
    ]) as object,
  });
});

test('an event without its delivery is shown, and queued again, marked, by the next comparison that misses it', async () => {
  const [lost] = await writeEvents(2);
  dispatcher.differ({ missing: [lost!] });
  const { breaks } = await run();
  expect(breaks).toEqual([
    { kind: 'missing_right', id: lost, expected: 'delivery', changedAt: timeOfId(lost!) },
  ]);
  expect(await queued()).toEqual([]);
  expect((await run({ knownIds: [lost!] })).breaks).toEqual(breaks);
  expect(await queued()).toEqual([{ event_id: lost, is_resend: true }]);
  expect(wakeUps).toBe(1);
});

test('an event that may have been published just now is not missing yet', async () => {
  const [fresh] = await writeEvents(1);
  dispatcher.differ({ missing: [fresh!] });
  expect((await run({ healAfterMs: 60_000 })).breaks).toEqual([]);
});

test('what the intake has not read is not missing nor asked for further, and the next run goes on from there', async () => {
  const ids = await writeEvents(2 * COMPARED_EVENTS_MAX);
  const handledUntil = new Date(Date.now() - HOUR_MS);
  dispatcher.differ({ missing: ids, handled_until: handledUntil.toISOString() });
  const { breaks, comparedUntil } = await run({ healAfterMs: 60_000 });
  expect(breaks).toEqual([]);
  expect(dispatcher.asked).toHaveLength(1);
  expect(comparedUntil).toEqual(new Date(handledUntil.getTime() - 60_000));
});

test('while the intake is behind, an event that is lost is shown and not queued again', async () => {
  const [lost] = await writeEvents(1);
  const handledUntil = new Date(Date.now() - 31_000).toISOString();
  dispatcher.differ({ missing: [lost!], handled_until: handledUntil });
  expect((await run({ knownIds: [lost!] })).breaks).toMatchObject([{ id: lost }]);
  expect(await queued()).toEqual([]);
  dispatcher.differ({ missing: [lost!] });
  await run({ knownIds: [lost!] });
  expect(await queued()).toHaveLength(1);
});

test('what an earlier run has found missing is so until it has arrived, wherever the intake is', async () => {
  const ids = await writeEvents(COMPARED_EVENTS_MAX + 3);
  const handledUntil = new Date(Date.now() - HOUR_MS).toISOString();
  dispatcher.differ({ missing: ids, handled_until: handledUntil });
  const { breaks } = await run({ knownIds: [ids.at(-1)!], healAfterMs: 60_000 });
  expect(breaks.map(({ id }) => id)).toEqual([ids.at(-1)]);
});

test('a dispatcher of the version before, which does not say how far its intake is, is compared with as a whole', async () => {
  const [lost] = await writeEvents(1);
  dispatcher.differ({ missing: [lost!], handled_until: null });
  expect((await run()).breaks).toMatchObject([{ id: lost }]);
  await run({ knownIds: [lost!] });
  expect(await queued()).toHaveLength(1);
});

test('of many lost events one more is found than is kept, and all that was known', async () => {
  const ids = await writeEvents(BREAKS_MAX + 300);
  const unknown = Array.from({ length: BREAKS_MAX + 300 }, () => newId());
  dispatcher.differ({ missing: ids, unknown });
  const { compared, breaks } = await run({ knownIds: [ids.at(-1)!] });
  expect(compared).toBe(ids.length);
  const expected = [
    ...ids.slice(0, BREAKS_MAX + 1),
    ids.at(-1),
    ...unknown.slice(0, BREAKS_MAX + 1),
  ];
  expect(breaks.map(({ id }) => id)).toEqual(expected);
});

test('a comparison queues a bounded number again, the oldest first, and the next ones the rest', async () => {
  const ids = await writeEvents(BREAKS_MAX + 300);
  dispatcher.differ({ missing: ids });
  await run({ knownIds: ids });
  expect((await queued()).map(({ event_id }) => event_id)).toEqual(ids.slice(0, BREAKS_MAX));
  await database.db.query(sql`delete from outbox`);
  dispatcher.differ({ missing: ids.slice(BREAKS_MAX) });
  await run({ knownIds: ids });
  expect((await queued()).map(({ event_id }) => event_id)).toEqual(ids.slice(BREAKS_MAX));
});

test('an event that waits to be published is not queued a second time', async () => {
  const [lost] = await writeEvents(1);
  await database.db.query(sql`insert into outbox (event_id) values (${lost})`);
  dispatcher.differ({ missing: [lost!] });
  await run({ knownIds: [lost!] });
  expect(await queued()).toEqual([{ event_id: lost, is_resend: false }]);
});

test('an event that an operator has given up before it was published needs no delivery', async () => {
  const [dismissed, kept] = await writeEvents(2);
  const letter = { topic: TOPICS.chargesEvents, partition: 0, offset: 1n, key: 'key', value: null };
  const headers = { event_id: dismissed! };
  const cause = { code: 'MESSAGE_INVALID', reason: 'an unknown field' };
  await parkMessage(database.db, OUTBOX_CONSUMER, { ...letter, ...cause, headers });
  const [parked] = await listDeadLetters(database.db, { limit: 1, startingAfter: null });
  const dismissal = { operatorId: newId(), reason: 'rolled back' };
  await dismissParkedEvent(database.db, parked!, dismissal);
  await run();
  expect(dispatcher.asked[0]?.events.map(({ event_id }) => event_id)).toEqual([kept]);
});

test('an event that only the dispatcher has is shown', async () => {
  const id = newId();
  dispatcher.differ({ unknown: [id] });
  expect((await run()).breaks).toMatchObject([{ kind: 'missing_left', id, expected: 'event' }]);
});

test('an incremental run goes back to what was found before', async () => {
  const [old] = await writeEvents(1);
  await run({ since: new Date(Date.now() + 60_000), knownIds: [old!] });
  expect(dispatcher.asked[0]?.events.map(({ event_id }) => event_id)).toEqual([old]);
});

test('a difference that does not heal costs an incremental run one page, not everything since its time', async () => {
  const ids = await writeEvents(COMPARED_EVENTS_MAX + 3);
  const since = new Date(Date.now() + 60_000);
  await run({ since, knownIds: [ids[0]!] });
  expect(comparedIds()).toEqual([ids.slice(0, COMPARED_EVENTS_MAX), []]);
});

test('every difference that was found before is compared, in one page where they are close to each other', async () => {
  const ids = await writeEvents(COMPARED_EVENTS_MAX + 3);
  const since = new Date(Date.now() + 60_000);
  await run({ since, knownIds: [ids.at(-1)!, ids[1]!, ids[0]!] });
  const [first, second] = comparedIds();
  expect(dispatcher.asked).toHaveLength(2);
  expect(first).toEqual(ids.slice(0, COMPARED_EVENTS_MAX));
  expect(second).toContain(ids.at(-1));
});

test('no run goes back further than the events that are compared, so that older differences end', async () => {
  const old = '019a0000-0000-7000-8000-000000000001';
  await run({ since: ALL_AT, knownIds: [old] });
  await run({ since: null, knownIds: [old] });
  const sevenDaysAgo = Date.now() - 7 * 24 * 3_600_000;
  expect(dispatcher.asked).toHaveLength(2);
  for (const { after } of dispatcher.asked) {
    expect(timeOfId(after).getTime()).toBeGreaterThan(sevenDaysAgo - 60_000);
  }
});

function comparedIds(): string[][] {
  return dispatcher.asked.map(({ events }) => events.map(({ event_id }) => event_id));
}

/** As if all events had been written an hour ago, where a test does not say otherwise. */
async function run(
  changes: { healAfterMs?: number; since?: Date | null; knownIds?: string[] } = {},
) {
  const { healAfterMs = -HOUR_MS, since = ALL_AT, knownIds = [] } = changes;
  await using client = createInternalClient({
    service: 'webhook-dispatcher',
    url: dispatcher.url,
    identity: testIdentity('charges'),
  });
  const check = deliveryCheck({
    db: database.db,
    topic: TOPICS.chargesEvents,
    types: TYPES,
    dispatcher: client,
    healAfterMs,
    wakeOutbox: () => {
      wakeUps += 1;
    },
  });
  return await check.run({ since, knownIds, signal: new AbortController().signal });
}

async function queued(): Promise<{ event_id: string; is_resend: boolean }[]> {
  return await database.db.query(sql`select event_id, is_resend from outbox order by id`);
}

/** Ids in their order. */
async function writeEvents(count: number, topic: string = TOPICS.chargesEvents): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  const message = JSON.stringify({
    account_id: newId(),
    application_id: null,
    occurred_at: '2026-11-22T10:00:00.000Z',
    destination: { url: 'https://shop.example.org', sealed_secret: null },
  });
  await database.db.query(sql`
    insert into events (event_id, topic, key, type, message)
    select id, ${topic}, 'key', 'charge.pix.created', ${message}::json from unnest(${ids}::uuid[]) as id`);
  return ids;
}
