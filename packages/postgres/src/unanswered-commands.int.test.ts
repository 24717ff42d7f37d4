import { HoldRelease } from '@pixmesh/contracts/messages/ledger-command.v1';
import { newId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { listDeadLetters, parkMessage } from './dead-letters.ts';
import { type OutboundEvent, outboundEvent, RESEND_HEADER } from './events.ts';
import { type PublishableEvent, relayOnce } from './outbox-relay.ts';
import { dismissParkedEvent } from './parked-events.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';
import { appendEventsAndCommands, endUnanswered, resendDue } from './unanswered-commands.ts';
import { createLogger } from '@pixmesh/telemetry/logger';

const RESEND_MS = 60_000;

let database: TestDatabase;
let admin: Database;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase('payouts');
  admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
  db = database.db;
});
beforeEach(async () => {
  await admin.query(sql`truncate payouts.events, payouts.outbox, payouts.unanswered_commands`);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('a command is unanswered from the statement that writes it until its outcome; other messages never are', async () => {
  const command = aCommand();
  await append([command, anotherMessage()]);
  expect(await unanswered()).toEqual([{ command_id: commandIdOf(command) }]);
  await endUnanswered(db, [newId()]);
  expect(await unanswered()).toHaveLength(1);
  await endUnanswered(db, [commandIdOf(command)]);
  expect(await unanswered()).toEqual([]);
});

test('nothing is unanswered when the guard finds nothing', async () => {
  const messages = appendEventsAndCommands(sql`select from guard`, [aCommand()]);
  await db.query(sql`with guard as (select where false), ${messages} select from guard`);
  expect(await unanswered()).toEqual([]);
});

test('a command without an outcome is published again, marked, once per period, and as it was', async () => {
  const command = aCommand();
  await append([command]);
  expect(await relay()).toMatchObject([{ eventId: command.eventId, isResend: false }]);
  expect(await resendDue(db, RESEND_MS)).toBe(0);
  await passTime();
  expect(await resendDue(db, RESEND_MS)).toBe(1);
  expect(await resendDue(db, RESEND_MS)).toBe(0);
  expect(await relay()).toMatchObject([{ ...command, isResend: true }]);
  await passTime();
  expect(await resendDue(db, RESEND_MS)).toBe(1);
});

test('a command that still waits to be published is not queued again', async () => {
  await append([aCommand()]);
  await passTime();
  expect(await resendDue(db, RESEND_MS)).toBe(0);
});

test('a resend that the broker postpones stays marked', async () => {
  const command = aCommand();
  await append([command]);
  await relay();
  await passTime();
  await resendDue(db, RESEND_MS);
  const postponed = new Set([command.eventId]);
  await relay(postponed);
  expect(await relay()).toMatchObject([{ eventId: command.eventId, isResend: true }]);
});

test('a resend of a message that is parked parks it once', async () => {
  const consumer = newId();
  const letter = {
    topic: HoldRelease.topic,
    partition: 0,
    key: null,
    value: Buffer.from('as it was'),
    code: 'CONFLICT',
    reason: 'another command has its id',
  };
  const again = { ...letter, headers: { [RESEND_HEADER]: '1' } };
  await parkMessage(db, consumer, { ...letter, headers: {}, offset: 1n });
  await parkMessage(db, consumer, { ...again, offset: 2n });
  await parkMessage(db, consumer, { ...again, offset: 3n, value: Buffer.from('another') });
  const letters = await listDeadLetters(db, { limit: 10, startingAfter: null });
  expect(letters.filter((one) => one.consumer === consumer).map(({ offset }) => offset)).toEqual([
    3n,
    1n,
  ]);
});

test('a command that is dismissed before it was published waits for no outcome', async () => {
  const command = aCommand();
  await append([command]);
  const invalid = new Map([[command.eventId, 'an unknown field']]);
  const publish = async () => ({ invalid, postponed: new Set<string>() });
  await relayOnce({ db, logger: createLogger('test', 'silent'), publish });
  // An operator takes his time; it is not sent again meanwhile.
  await passTime();
  expect(await resendDue(db, RESEND_MS)).toBe(0);
  const letters = await listDeadLetters(db, { key: command.key, limit: 1, startingAfter: null });
  await dismissParkedEvent(db, letters[0]!, { operatorId: newId(), reason: 'settled by hand' });
  expect(await unanswered()).toEqual([]);
});

async function append(messages: readonly OutboundEvent[]): Promise<void> {
  const pair = appendEventsAndCommands(sql`select from guard`, messages);
  await db.query(sql`with guard as (select 1), ${pair} select from guard`);
}

/** What one relay publishes, apart from what the broker postpones. */
async function relay(postponed: ReadonlySet<string> = new Set()): Promise<PublishableEvent[]> {
  const published: PublishableEvent[] = [];
  await relayOnce({
    db,
    logger: createLogger('test', 'silent'),
    publish: async (events) => {
      published.push(...events.filter(({ eventId }) => !postponed.has(eventId)));
      return { invalid: new Map(), postponed };
    },
  });
  return published;
}

/** As if the last sending of every command had been a period ago. */
async function passTime(): Promise<void> {
  await admin.query(sql`
    update payouts.unanswered_commands set sent_at = sent_at - ${RESEND_MS}::float8 * interval '1.1 ms'`);
}

async function unanswered(): Promise<object[]> {
  return await db.query(sql`select command_id from unanswered_commands`);
}

function aCommand(): OutboundEvent {
  const place = { key: newId(), sequence: null };
  return outboundEvent(HoldRelease, place, {
    event_id: newId(),
    type: 'hold.release',
    version: 1,
    occurred_at: new Date().toISOString(),
    account_id: place.key,
    application_id: null,
    data: { command_id: newId(), hold_id: newId(), resource_id: newId() },
  });
}

function anotherMessage(): OutboundEvent {
  return { ...aCommand(), eventId: newId(), topic: 'payouts.events.v1' };
}

function commandIdOf({ message }: OutboundEvent): string {
  return (message as { data: { command_id: string } }).data.command_id;
}
