import { newId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import {
  findDeadLetter,
  listDeadLetters,
  markDismissed,
  markReplayed,
  parkMessage,
} from './dead-letters.ts';
import { sql } from './sql.ts';

const LETTER = {
  topic: 'charges.events.v1',
  partition: 3,
  offset: 9_007_199_254_740_993n,
  key: 'charge-1',
  headers: { type: 'charge.pix.paid' },
  value: Buffer.from([0, 1, 255]),
  code: 'MESSAGE_INVALID',
  reason: 'undecodable value',
};

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});

beforeEach(async () => {
  await database.db.query(sql`delete from dead_letters`);
});

afterAll(() => database[Symbol.asyncDispose]());

test('a parked message comes back as it was', async () => {
  await parkMessage(database.db, 'intake', LETTER);
  const [letter] = await list();
  expect(letter).toMatchObject({ ...LETTER, consumer: 'intake', replayedAt: null });
  expect(await findDeadLetter(database.db, letter?.id ?? '')).toEqual(letter);
});

test('the same message parked again is one letter, with its newest cause, open again', async () => {
  await parkMessage(database.db, 'intake', LETTER);
  const [first] = await list();
  await markReplayed(database.db, first?.id ?? '');
  expect(await list()).toEqual([]);
  await parkMessage(database.db, 'intake', { ...LETTER, reason: 'still' });
  expect(await list()).toMatchObject([{ id: first?.id, reason: 'still' }]);
});

test('a dismissed letter is open no more, also when its message comes again, and stays readable', async () => {
  await parkMessage(database.db, 'intake', LETTER);
  const [letter] = await list();
  const id = letter?.id ?? '';
  const dismissal = { operatorId: newId(), reason: 'sent by a test system' };
  expect(await markDismissed(database.db, id, dismissal)).toBe(true);
  expect(await markDismissed(database.db, id, dismissal)).toBe(false);
  await parkMessage(database.db, 'intake', LETTER);
  expect(await list()).toEqual([]);
  const page = { status: 'dismissed', limit: 10, startingAfter: null } as const;
  expect(await listDeadLetters(database.db, page)).toMatchObject([
    { id, dismissedBy: dismissal.operatorId, dismissedReason: dismissal.reason },
  ]);
});

test('a replayed letter cannot be dismissed', async () => {
  await parkMessage(database.db, 'intake', LETTER);
  const [letter] = await list();
  await markReplayed(database.db, letter?.id ?? '');
  const dismissal = { operatorId: newId(), reason: 'too late' };
  expect(await markDismissed(database.db, letter?.id ?? '', dismissal)).toBe(false);
});

test('letters are found by consumer, topic, key, code and status', async () => {
  await parkMessage(database.db, 'intake', LETTER);
  await parkMessage(database.db, 'outbox', { ...LETTER, key: null, code: 'INTERNAL_ERROR' });
  const count = async (filters: object) =>
    (await listDeadLetters(database.db, { limit: 10, startingAfter: null, ...filters })).length;
  expect(await count({})).toBe(2);
  expect(await count({ consumer: 'outbox' })).toBe(1);
  expect(await count({ topic: LETTER.topic })).toBe(2);
  expect(await count({ key: 'charge-1' })).toBe(1);
  expect(await count({ code: 'INTERNAL_ERROR', consumer: 'intake' })).toBe(0);
  expect(await count({ status: 'replayed' })).toBe(0);
});

test('each consumer has its own letter of one message, and so has another message at its place', async () => {
  await parkMessage(database.db, 'intake', LETTER);
  await parkMessage(database.db, 'projection', LETTER);
  await parkMessage(database.db, 'intake', { ...LETTER, value: Buffer.from('another') });
  await parkMessage(database.db, 'intake', { ...LETTER, value: null });
  await parkMessage(database.db, 'intake', { ...LETTER, value: null });
  expect(await list()).toHaveLength(4);
});

test('no message is too broken to be parked', async () => {
  await parkMessage(database.db, 'intake', {
    ...LETTER,
    key: 'a\0b',
    headers: { type: '\0', other: '\uFFFD"' },
    reason: `\0${'x'.repeat(100_000)}\uD800`,
  });
  const [letter] = await list();
  expect(letter).toMatchObject({ key: 'a\uFFFDb', headers: { type: '\0', other: '\uFFFD"' } });
  expect(letter?.reason.length).toBe(1_000);
});

test('pages run from the newest to the oldest without overlap', async () => {
  for (let offset = 1n; offset <= 5n; offset += 1n) {
    await parkMessage(database.db, 'intake', { ...LETTER, offset });
  }
  const first = await listDeadLetters(database.db, { limit: 3, startingAfter: null });
  const rest = await listDeadLetters(database.db, {
    limit: 3,
    startingAfter: first[2]?.id ?? null,
  });
  expect(first).toHaveLength(3);
  expect([...first, ...rest]).toEqual(await list());
});

async function list() {
  return await listDeadLetters(database.db, { limit: 10, startingAfter: null });
}
