import { type AccountId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import { createPool, type Database, type Queryable } from '@pixmesh/postgres/pool';
import { countRowsRead } from '@pixmesh/testkit/rows-read';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createLogger } from '@pixmesh/telemetry/logger';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createIntentCommits } from '#creation/commit-intents.sql.ts';
import { createNewIntents } from '#creation/intents.sql.ts';
import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { claimDue } from '#sending/claim-due.sql.ts';
import { ensureSlots, letSlotWait } from '#sending/send-slots.sql.ts';
import { acceptance } from '#settlement/accept-payout.ts';
import { leaseNamedPayouts } from '#status-check/callback-checks.sql.ts';
import { stopPayouts } from '#stops/stop-payouts.ts';
import { aNewIntent, anIntent } from '#test/an-intent.ts';
import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';
import { fillPayouts } from '#test/store-payout.ts';

/** Connections that plan a statement once keep the plan of an empty table: it has to be right for a large one. */

const ROWS = 3_000;
/** Rows that one statement for one payout reads of all tables, and no more. */
const READ_MAX = 20;
const LEASE_MS = 6_000;
const SLOTS = 8;
const CLAIM = { limit: SLOTS, slots: SLOTS, leaseMs: LEASE_MS, after: BEFORE_ALL_ACCOUNTS };

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase('payouts');
  db = createPool({ url: database.url, applicationName: 'test', max: 1, plansOnce: true });
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const STATEMENTS: readonly {
  what: string;
  run(tx: Queryable, intent: PayoutRow): Promise<unknown>;
}[] = [
  { what: 'a new intent', run: (tx) => createNewIntents(tx).submit(aNewIntent()) },
  {
    what: 'a queued intent',
    run: (tx, intent) => createIntentCommits(tx).commit(intent, LEASE_MS),
  },
  {
    what: 'a waiting intent',
    run: (tx, intent) => createIntentCommits(tx).commit({ ...intent, isAutomatic: false }, null),
  },
  { what: 'a read', run: (tx, { id }) => createPayoutMoves(tx).find(id) },
  {
    what: 'a move',
    run: (tx, from) => {
      const accepted = acceptance(from, anAcquirerPayout());
      const change = { ...accepted, from, status: 'processing', checkInMs: 60_000 } as const;
      return createPayoutMoves(tx).move(change);
    },
  },
  {
    what: 'a callback',
    run: (tx, { id }) => {
      const name = { id, endToEndId: null, traceparent: null };
      return leaseNamedPayouts(tx, [name], { places: 1, leaseMs: LEASE_MS });
    },
  },
];

test('statements that were planned while the table was empty look their rows up by key', async () => {
  for (const { run } of STATEMENTS) await run(db, await anIntent(database.db));
  await fillPayouts(database.db, { accountId: newId(), rows: ROWS });
  for (const { what, run } of STATEMENTS) {
    const intent = await anIntent(database.db);
    const read = await db.transaction(async (tx) => {
      await run(tx, intent);
      return await countRowsRead(tx);
    });
    expect([what, read]).toEqual([what, expect.toSatisfy((rows: number) => rows <= READ_MAX)]);
  }
});

test('ten thousand due payouts of stopped accounts are read by no claim, and hold up none', async () => {
  await using own = await createTestDatabase('payouts');
  await using pool = createPool({ url: own.url, applicationName: 'test', max: 1, plansOnce: true });
  await ensureSlots(own.db, SLOTS);
  expect(await claimDue(pool, CLAIM)).toEqual([]);
  for (const stopped of await stopMany(own.db, 2)) {
    await storeDuePayouts(own.db, 5_000, { accountId: stopped });
  }
  const other = await storeDuePayouts(own.db, 1);
  const read = await pool.transaction(async (tx) => {
    const claims = await claimDue(tx, CLAIM);
    expect(claims.map(({ payout }) => payout.id)).toEqual(other);
    return await countRowsRead(tx);
  });
  // Slots and stops too.
  expect(read).toBeLessThanOrEqual(READ_MAX + 2 * SLOTS);
});

test('however many accounts are stopped, a claim reads the payouts of as many others as it has slots', async () => {
  await using own = await createTestDatabase('payouts');
  await ensureSlots(own.db, SLOTS);
  await stopMany(own.db, 50);
  const others = 4 * SLOTS;
  for (let made = 0; made < others; made += 1) await storeDuePayouts(own.db, SLOTS);
  const read = await own.db.transaction(async (tx) => {
    expect(await claimDue(tx, CLAIM)).toHaveLength(SLOTS);
    return await countRowsRead(tx);
  });
  expect(read).toBeLessThan(others * SLOTS);
});

test('of slots that wait a claim reads the payouts that they wait for, and no others', async () => {
  await using own = await createTestDatabase('payouts');
  await using pool = createPool({ url: own.url, applicationName: 'test', max: 1, plansOnce: true });
  await ensureSlots(own.db, SLOTS);
  expect(await claimDue(pool, CLAIM)).toEqual([]);
  await fillPayouts(own.db, { accountId: newId(), rows: ROWS });
  await storeDuePayouts(own.db, SLOTS + 1);
  for (const claimed of await claimDue(own.db, CLAIM)) {
    await letSlotWait(own.db, claimed, { payoutId: claimed.payout.id, waitMs: LEASE_MS });
  }
  const read = await pool.transaction(async (tx) => {
    expect(await claimDue(tx, CLAIM)).toEqual([]);
    return await countRowsRead(tx);
  });
  expect(read).toBeLessThanOrEqual(READ_MAX + 2 * SLOTS);
});

test('ten thousand due payouts of an account that is left out are read by no claim, and hold up none', async () => {
  const leftOut = newId<AccountId>();
  await storeDuePayouts(database.db, 10_000, { accountId: leftOut });
  const [other] = await storeDuePayouts(database.db, 1);
  await ensureSlots(database.db, SLOTS);
  const read = await database.db.transaction(async (tx) => {
    const claims = await claimDue(tx, { ...CLAIM, except: [leftOut] });
    expect(claims.map(({ payout }) => payout.id)).toContain(other);
    expect(claims.map(({ payout }) => payout.accountId)).not.toContain(leftOut);
    return await countRowsRead(tx);
  });
  expect(read).toBeLessThanOrEqual(READ_MAX);
});

test('ten thousand unsent payouts of stopped accounts are read by no creation, and hold up none', async () => {
  for (const stopped of await stopMany(database.db, 2)) {
    await storeDuePayouts(database.db, 5_000, { accountId: stopped });
  }
  const intent = await anIntent(database.db);
  const read = await db.transaction(async (tx) => {
    const made = await createIntentCommits(tx).commit(intent, LEASE_MS);
    expect(made).toMatchObject({ unansweredCalls: 1, sendAt: null });
    return await countRowsRead(tx);
  });
  expect(read).toBeLessThanOrEqual(READ_MAX);
});

async function stopMany(ofPayouts: Database, count: number): Promise<AccountId[]> {
  const logger = createLogger('payouts', 'silent');
  const deps = { db: ofPayouts, logger, wakeSender: () => undefined };
  const accounts = Array.from({ length: count }, () => newId<AccountId>());
  for (const accountId of accounts) {
    await stopPayouts(deps, { accountId, reason: 'books', operatorId: newId<OperatorId>() });
  }
  return accounts;
}
