import { TOPICS } from '@pixmesh/contracts/topics';
import { newId, timeOfId } from '@pixmesh/kernel/ids';
import { parkMessage } from '@pixmesh/postgres/dead-letters';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Check } from './check.ts';
import { deadLetterCheck } from './dead-letter-check.ts';
import { outboxCheck } from './outbox-check.ts';

const LONG_AGO = new Date(Date.now() - 3_600_000);

let database: TestDatabase;
let admin: Database;
/** The resources of the test: id and how many events each has had. */
let counters: Map<string, number>;

beforeEach(async () => {
  database = await createTestDatabase('charges');
  admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 2 });
  counters = new Map();
});

afterEach(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe.each([
  ['a full run', null],
  ['an incremental run', LONG_AGO],
])('the outbox in %s', (_name, since) => {
  test('is clean when the events of each resource run from 1 to its counter', async () => {
    await aResource(3);
    await aResource(1);
    const outcome = await runOutbox(since);
    expect(outcome.breaks).toEqual([]);
    expect(outcome.compared).toBe(2);
  });

  test('shows a gap in the numbers, an event that is missing at the end, and one too many', async () => {
    const [gap, short, long] = [await aResource(3), await aResource(2), await aResource(2)];
    await admin.query(sql`delete from charges.events where key = ${gap} and sequence = 2`);
    counters.set(short, 3);
    counters.set(long, 1);
    const { breaks } = await runOutbox(since);
    expect(byId(breaks)).toEqual({
      [gap]: 'gap 3 2',
      [short]: 'missing_right 3 2',
      [long]: 'missing_left 1 2',
    });
  });

  test('shows each command without an outcome, with its type and since when', async () => {
    const [eventId, commandId] = [newId(), newId()];
    await database.db.query(sql`
      with written as (
        insert into events (event_id, topic, key, type, message)
        values (${eventId}, ${TOPICS.ledgerCommands}, 'account', 'hold.release', '{}')
      )
      insert into unanswered_commands (command_id, event_id) values (${commandId}, ${eventId})`);
    expect((await runOutbox(since)).breaks).toEqual([
      {
        kind: 'unanswered',
        id: commandId,
        expected: 'outcome of hold.release',
        found: null,
        changedAt: timeOfId(eventId),
      },
    ]);
  });

  test('shows a number that was given twice', async () => {
    const id = await aResource(2);
    await writeEvents(id, [2]);
    expect(byId((await runOutbox(since)).breaks)).toEqual({ [id]: 'gap 2 3' });
  });

  test('shows a number that was given in the place of another', async () => {
    const id = await aResource(3);
    await admin.query(sql`delete from charges.events where key = ${id} and sequence = 2`);
    await writeEvents(id, [1]);
    expect(byId((await runOutbox(since)).breaks)).toEqual({ [id]: 'gap 3 2' });
  });

  test('shows since when events wait to be published', async () => {
    await admin.query(
      sql`insert into charges.outbox (event_id) values (uuidv7(interval '-5 minutes')), (uuidv7())`,
    );
    const { breaks } = await runOutbox(since);
    expect(breaks).toMatchObject([{ kind: 'unpublished', found: '2' }]);
    const ageMs = Date.now() - (breaks[0]?.changedAt?.getTime() ?? 0);
    expect(Math.round(ageMs / 60_000)).toBe(5);
  });

  test('shows another difference once the oldest event is published, though later ones wait', async () => {
    const [older, newer] = [newId(), newId()];
    for (const id of [newer, older]) {
      await admin.query(sql`insert into charges.outbox (event_id) values (${id})`);
    }
    expect((await runOutbox(since)).breaks).toMatchObject([{ id: older }]);
    await admin.query(sql`delete from charges.outbox where event_id = ${older}`);
    expect((await runOutbox(since)).breaks).toMatchObject([{ id: newer }]);
  });
});

test('an incremental run reads what changed, what it had found, and walks on over the rest', async () => {
  for (let index = 0; index < 2_000; index += 1) counters.set(newId(), 0);
  const last = await aResource(2, 'ffffffff-ffff-7fff-bfff-ffffffffffff');
  counters.set(last, 3);
  const outcome = { [last]: 'missing_right 3 2' };
  const check = checkOutbox();
  const later = new Date(Date.now() + 60_000);
  expect(byId((await run(check, LONG_AGO)).breaks)).toEqual(outcome);
  expect(byId((await run(check, later, [last, 'outbox'])).breaks)).toEqual(outcome);
  expect(byId((await run(check, later)).breaks)).toEqual(outcome);
  expect((await run(check, later)).breaks).toEqual([]);
});

test('a full run pages through all resources', async () => {
  for (let index = 0; index < 1_200; index += 1) counters.set(newId(), 0);
  expect(await runOutbox(null)).toEqual({ compared: 1_200, breaks: [] });
});

test('a dead letter is a break until it is replayed', async () => {
  const check = deadLetterCheck({ db: database.db });
  const message = { topic: 't', partition: 0, offset: 1n, key: null, headers: {}, value: null };
  await parkMessage(database.db, 'c', {
    ...message,
    code: 'MESSAGE_INVALID',
    reason: 'for a test',
  });
  const open = await run(check);
  expect(open.breaks).toMatchObject([{ kind: 'open', found: 'MESSAGE_INVALID' }]);
  await database.db.query(sql`update dead_letters set replayed_at = now()`);
  expect((await run(check)).breaks).toEqual([]);
});

/** A resource whose events and counter agree. */
async function aResource(events: number, id = newId()): Promise<string> {
  counters.set(id, events);
  await writeEvents(
    id,
    Array.from({ length: events }, (_, index) => index + 1),
  );
  return id;
}

async function writeEvents(key: string, sequences: number[]): Promise<void> {
  await database.db.query(sql`
    insert into events (event_id, topic, key, type, sequence, message)
    select uuidv7(), ${TOPICS.chargesEvents}, ${key}, 'x', sequence, '{}'
    from unnest(${sequences}::int[]) as sequence`);
}

function runOutbox(since: Date | null) {
  return run(checkOutbox(), since);
}

function checkOutbox(): Check {
  const resources = sql`
    select id, event_sequence
    from unnest(${[...counters.keys()]}::uuid[], ${[...counters.values()]}::int[]) as r (id, event_sequence)`;
  const topic = TOPICS.chargesEvents;
  return outboxCheck({ db: database.db, numbered: { topic, counters: resources } });
}

function run(check: Check, since: Date | null = null, knownIds: string[] = []) {
  return check.run({ since, knownIds, signal: new AbortController().signal });
}

function byId(breaks: Awaited<ReturnType<Check['run']>>['breaks']): Record<string, string> {
  return Object.fromEntries(
    breaks.map(({ id, kind, expected, found }) => [id, `${kind} ${expected} ${found}`]),
  );
}
