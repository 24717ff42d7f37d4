import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aNewOrder } from '#test/a-new-charge.ts';

import { createNewCharges, type NewCharge, type NewCharges } from './new-charges.sql.ts';

/** Creations that come together share a statement; each stands or falls by itself. */

let database: TestDatabase;
let newCharges: NewCharges;
beforeAll(async () => {
  database = await createTestDatabase('charges');
  newCharges = createNewCharges(database.db);
});
afterAll(() => database[Symbol.asyncDispose]());

async function linesOf({ id }: NewCharge): Promise<number> {
  return (await database.db.query(sql`select from charge_history where charge_id = ${id}`)).length;
}

test('each creation is stored as it was given, under its own lease, with its line of history', async () => {
  const orders = Array.from({ length: 20 }, (_order, index) => ({
    ...aNewOrder(),
    amount: toCents(100 + index),
    description: `a "quoted" \\ description — ${index}`,
    fingerprint: Buffer.from([index, 255 - index]),
  }));
  const stored = await Promise.all(orders.map((order) => newCharges.submit(order)));
  for (const [index, order] of orders.entries()) {
    const { id, amount, description, fingerprint, leaseToken } = order;
    expect(stored[index]).toMatchObject({ id, amount, description, fingerprint, leaseToken });
    expect(stored[index]).toMatchObject({ status: 'processing', unansweredCalls: 1, version: 0 });
    expect(await linesOf(order)).toBe(1);
  }
});

test('of creations under one id, together or later, one is stored', async () => {
  const id = newId();
  const orders = Array.from({ length: 5 }, () => ({ ...aNewOrder(), id }) as NewCharge);
  const stored = await Promise.all(orders.map((order) => newCharges.submit(order)));
  expect(stored.filter((charge) => charge !== null)).toHaveLength(1);
  expect(await newCharges.submit({ ...aNewOrder(), id } as NewCharge)).toBeNull();
});

test('one that the database refuses is refused alone', async () => {
  const orders = [aNewOrder(), { ...aNewOrder(), amount: toCents(0) }, aNewOrder()];
  const outcomes = await Promise.allSettled(orders.map((order) => newCharges.submit(order)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await Promise.all(orders.map(linesOf))).toEqual([1, 0, 1]);
});
