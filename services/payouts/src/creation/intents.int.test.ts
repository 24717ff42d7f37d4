import { newId, type PayoutId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findAnyPayout } from '#payouts/payouts.sql.ts';
import { aNewIntent } from '#test/an-intent.ts';

import { createNewIntents, type NewIntents } from './intents.sql.ts';

/** Intents that come together share a statement; each stands or falls by itself. */

let database: TestDatabase;
let newIntents: NewIntents;
beforeAll(async () => {
  database = await createTestDatabase('payouts');
  newIntents = createNewIntents(database.db);
});
afterAll(() => database[Symbol.asyncDispose]());

test('each intent is stored as it was given, and found so', async () => {
  const intents = Array.from({ length: 20 }, (_intent, index) => ({
    ...aNewIntent(),
    amount: toCents(100 + index),
    description: `a "quoted" \\ description — ${index}`,
    recipientName: index % 2 === 0 ? null : `João ${index}`,
    fingerprint: Buffer.from([index, 255 - index]),
    traceparent: `00-${String(index).padStart(32, '1')}-${'1'.repeat(16)}-01`,
  }));
  const stored = await Promise.all(intents.map((intent) => newIntents.submit(intent)));
  for (const [index, { firstCheckMs, traceparent, ...given }] of intents.entries()) {
    const wanted = { ...given, status: 'intent', checkTraceparent: traceparent, version: 0 };
    expect(stored[index]).toMatchObject(wanted);
    expect(await findAnyPayout(database.db, given.id)).toMatchObject(wanted);
    const { nextCheckAt, readAt } = stored[index]!;
    const checkInMs = nextCheckAt!.getTime() - readAt.getTime();
    expect(Math.abs(checkInMs - firstCheckMs)).toBeLessThanOrEqual(1);
  }
});

test('of intents under one id, together or later, one is stored', async () => {
  const id = newId<PayoutId>();
  const intents = Array.from({ length: 5 }, () => ({ ...aNewIntent(), id }));
  const stored = await Promise.all(intents.map((intent) => newIntents.submit(intent)));
  expect(stored.filter((intent) => intent !== null)).toHaveLength(1);
  expect(await newIntents.submit({ ...aNewIntent(), id })).toBeNull();
});

test('one that the database refuses is refused alone', async () => {
  const intents = [aNewIntent(), { ...aNewIntent(), amount: toCents(0) }, aNewIntent()];
  const outcomes = await Promise.allSettled(intents.map((intent) => newIntents.submit(intent)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const stored = await Promise.all(intents.map(({ id }) => findAnyPayout(database.db, id)));
  expect(stored.map((intent) => intent !== null)).toEqual([true, false, true]);
});
