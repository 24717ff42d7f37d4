import { newId } from '@pixmesh/kernel/ids';
import { violatedConstraint } from '@pixmesh/postgres/database-error';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { storePayout } from '#test/store-payout.ts';

import { movePayout } from './move-payouts.sql.ts';
import { payoutEvents } from './payout-events.ts';
import { isVisible } from './payout-row.ts';
import { findAnyPayout, findPayout } from './payouts.sql.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('payouts');
});
afterAll(() => database[Symbol.asyncDispose]());

async function aStoredPayout(changes: Parameters<typeof storePayout>[1] = {}) {
  const { id } = await storePayout(database.db, changes);
  const row = await findAnyPayout(database.db, id);
  if (row === null || !isVisible(row)) throw new Error('not stored');
  return row;
}

async function countOf(table: 'events' | 'outbox', id: string): Promise<number> {
  const rows =
    table === 'events'
      ? await database.db.query(sql`select from events where key = ${id}`)
      : await database.db.query(
          sql`select from outbox where event_id in (select event_id from events where key = ${id})`,
        );
  return rows.length;
}

describe('a transition', () => {
  test('moves status, counters, events and their place in the queue in one statement', async () => {
    const row = await aStoredPayout();
    const events = payoutEvents({ ...row, status: 'canceled' }, ['payment.pix.canceled']);
    const change = { from: row, status: 'canceled', events, checkInMs: null } as const;
    expect(await movePayout(database.db, change)).toBe(true);
    expect(await findAnyPayout(database.db, row.id)).toMatchObject({
      status: 'canceled',
      version: row.version + 1,
      eventSequence: row.eventSequence + 1,
    });
    expect([await countOf('events', row.id), await countOf('outbox', row.id)]).toEqual([1, 1]);
  });

  test('writes nothing where the row has moved since it was read', async () => {
    const row = await aStoredPayout();
    const first = { from: row, status: 'processing', events: [], checkInMs: null } as const;
    expect(await movePayout(database.db, first)).toBe(true);
    const events = payoutEvents({ ...row, status: 'canceled' }, ['payment.pix.canceled']);
    const second = { from: row, status: 'canceled', events, checkInMs: null } as const;
    expect(await movePayout(database.db, second)).toBe(false);
    expect((await findAnyPayout(database.db, row.id))?.status).toBe('processing');
    expect(await countOf('events', row.id)).toBe(0);
  });

  test('raced by twenty has one winner and one event', async () => {
    const row = await aStoredPayout();
    const races = Array.from({ length: 20 }, () =>
      movePayout(database.db, {
        from: row,
        status: 'canceled',
        events: payoutEvents({ ...row, status: 'canceled' }, ['payment.pix.canceled']),
        checkInMs: null,
      }),
    );
    expect((await Promise.all(races)).filter(Boolean)).toHaveLength(1);
    expect(await countOf('events', row.id)).toBe(1);
  });

  test('does not delay a check that somebody asked for', async () => {
    const row = await aStoredPayout({ status: 'processing' });
    await database.db.query(sql`update payouts set check_at = '-infinity' where id = ${row.id}`);
    const change = { from: row, status: 'processing', events: [], checkInMs: 60_000 } as const;
    await movePayout(database.db, change);
    const due = sql`select id from payouts where id = ${row.id} and check_at = '-infinity'`;
    expect(await database.db.query(due)).toHaveLength(1);
  });
});

test('a payout is found by its own account only', async () => {
  const row = await aStoredPayout();
  expect((await findPayout(database.db, row.accountId, row.id))?.id).toBe(row.id);
  expect(await findPayout(database.db, newId(), row.id)).toBeNull();
  expect(await findAnyPayout(database.db, newId())).toBeNull();
});

describe('the table refuses by itself', () => {
  const now = new Date();
  test.each<[string, ReturnType<typeof sql>, string, string]>([
    ['an unknown status', sql`status = 'paid'`, 'pending', 'payouts_status'],
    ['a failure without a reason', sql`status = 'failed'`, 'processing', 'payouts_failure_reason'],
    ['a reason without a failure', sql`failure_reason = 'x'`, 'pending', 'payouts_failure_reason'],
    ['an amount of nothing', sql`amount = 0`, 'pending', 'payouts_amount'],
    ['an amount without an end', sql`amount = 1000000000000`, 'pending', 'payouts_amount'],
    ['a negative fee', sql`fee = -1`, 'pending', 'payouts_fee'],
    ['a type of key that is none', sql`pix_key_type = 'evp'`, 'pending', 'payouts_pix_key_type'],
    ['a source that is none', sql`source = 'checkout'`, 'pending', 'payouts_source'],
    ['sending what waits', sql`send_at = ${now}`, 'pending', 'payouts_send_at'],
    ['sending an intent', sql`send_at = ${now}`, 'intent', 'payouts_send_at'],
    ['sending what is canceled', sql`send_at = ${now}`, 'canceled', 'payouts_send_at'],
    ['ending what waits', sql`ending = 'release'`, 'pending', 'payouts_ending'],
    ['an unknown end', sql`ending = 'void'`, 'processing', 'payouts_ending'],
    [
      'sending what is being ended',
      sql`ending = 'settle', send_at = ${now}`,
      'processing',
      'payouts_send_at',
    ],
  ])('%s', async (_name, change, status, constraint) => {
    const { id } = await storePayout(database.db, { status });
    const update = database.db.query(sql`update payouts set ${change} where id = ${id}`);
    const error: unknown = await update.catch((refused: unknown) => refused);
    expect(violatedConstraint(error)).toBe(constraint);
  });

  test('an approver who is the requester', async () => {
    const { id } = await storePayout(database.db);
    const operator = newId();
    const both = sql`requested_by = ${operator}, approved_by = ${operator}`;
    const update = database.db.query(sql`update payouts set ${both} where id = ${id}`);
    const error: unknown = await update.catch((refused: unknown) => refused);
    expect(violatedConstraint(error)).toBe('payouts_approver');
  });

  test('a second row under one hold', async () => {
    const one = await aStoredPayout();
    const other = await aStoredPayout();
    const update = database.db.query(
      sql`update payouts set hold_id = ${one.holdId} where id = ${other.id}`,
    );
    const error: unknown = await update.catch((refused: unknown) => refused);
    expect(violatedConstraint(error)).toBe('payouts_hold');
  });

  test.each(['pending', 'processing', 'completed', 'failed', 'canceled'])(
    'deleting what is %s',
    async (status) => {
      const { id } = await storePayout(database.db, { status });
      const deletion = database.db.query(sql`delete from payouts where id = ${id}`);
      await expect(deletion).rejects.toThrow('is not an intent any more');
      expect(await findAnyPayout(database.db, id)).not.toBeNull();
    },
  );

  test('emptying the table, and changing what was returned', async () => {
    const denied = 'permission denied';
    await expect(database.db.query(sql`truncate payouts`)).rejects.toThrow(denied);
    const changes = [
      sql`update payout_returns set amount = 1`,
      sql`delete from payout_returns`,
      sql`truncate payout_returns`,
    ];
    for (const change of changes) {
      await expect(database.db.query(change)).rejects.toThrow(denied);
    }
  });

  test('but an intent may go', async () => {
    const { id } = await storePayout(database.db, { status: 'intent' });
    await database.db.query(sql`delete from payouts where id = ${id}`);
    expect(await findAnyPayout(database.db, id)).toBeNull();
  });
});
