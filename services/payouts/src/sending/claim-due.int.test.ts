import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { findAnyPayout } from '#payouts/payouts.sql.ts';
import { sendAgain } from '#status-check/payout-checks.sql.ts';
import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { claimDue } from './claim-due.sql.ts';
import { countOverdue } from './overdue.sql.ts';
import { ensureSlots, releaseSlots } from './send-slots.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000' as AccountId;

async function claim(changes: Partial<Parameters<typeof claimDue>[1]> = {}) {
  return await claimDue(database.db, {
    limit: 8,
    slots: 8,
    leaseMs: 60_000,
    after: BEFORE_ALL,
    ...changes,
  });
}

/** Accounts in the order of the ring. */
function accounts(count: number): AccountId[] {
  return Array.from({ length: count }, () => newId<AccountId>()).sort();
}

test('a claim counts the call as unanswered, takes it off the queue and lets a check come due', async () => {
  await ensureSlots(database.db, 8);
  const [id] = await storeDuePayouts(database.db, 1);
  const [claimed] = await claim();
  expect(claimed).toMatchObject({ slot: 1, payout: { id, unansweredCalls: 1, version: 1 } });
  const [row] = await database.db.query(sql`
    select send_at, unanswered_puts, first_put_at = last_put_at as is_first,
      check_at > now() + interval '50 seconds' as checks_after_the_lease
    from payouts where id = ${id}`);
  expect(row).toEqual({
    send_at: null,
    unanswered_puts: 1,
    is_first: true,
    checks_after_the_lease: true,
  });
  expect(await claim()).toEqual([]);
});

test('what is not due yet is not claimed', async () => {
  await ensureSlots(database.db, 8);
  await storeDuePayouts(database.db, 3, { sendInMs: 60_000 });
  expect(await claim()).toEqual([]);
});

test('ten thousand due payouts of one account do not delay another: accounts take turns', async () => {
  await ensureSlots(database.db, 8);
  const [hot, second, third] = accounts(3) as [AccountId, AccountId, AccountId];
  await storeDuePayouts(database.db, 10_000, { accountId: hot });
  await storeDuePayouts(database.db, 1, { accountId: second });
  await storeDuePayouts(database.db, 2, { accountId: third });
  const startedAtMs = performance.now();
  const claims = await claim();
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  const served = claims.map(({ payout }) => payout.accountId);
  expect(served.filter((account) => account === hot)).toHaveLength(5);
  expect(served.filter((account) => account === second)).toHaveLength(1);
  expect(served.filter((account) => account === third)).toHaveLength(2);
});

test('with one slot at a time the turn goes round the ring, each account its oldest first', async () => {
  await ensureSlots(database.db, 1);
  const ring = accounts(3);
  const due = new Map<AccountId, string[]>();
  for (const accountId of ring) {
    due.set(accountId, await storeDuePayouts(database.db, 3, { accountId }));
  }
  const served: string[] = [];
  let after = BEFORE_ALL;
  for (let call = 0; call < 9; call += 1) {
    const [claimed] = await claim({ slots: 1, after });
    if (!claimed) throw new Error('nothing was claimed');
    served.push(claimed.payout.id);
    after = claimed.payout.accountId;
    await releaseSlots(database.db, [claimed]);
  }
  const rounds = [0, 1, 2].flatMap((lap) => ring.map((account) => due.get(account)?.[lap]));
  expect(served).toEqual(rounds);
});

test('a payout that is to be sent again keeps its place in the queue, however often it is checked', async () => {
  await ensureSlots(database.db, 1);
  const accountId = newId<AccountId>();
  const [called] = await storeDuePayouts(database.db, 1, { accountId });
  const [first] = await claim({ slots: 1 });
  if (!first || !called) throw new Error('nothing was claimed');
  await releaseSlots(database.db, [first]);
  expect(await sendAgain(database.db, first.payout, 60_000)).toBe(true);
  await database.db.query(sql`
    update payouts set send_at = now() - interval '40 s' where id = ${called}`);
  await storeDuePayouts(database.db, 1, { accountId, sendInMs: -20_000 });
  const waiting = await findAnyPayout(database.db, called);
  if (!waiting) throw new Error('no payout');
  expect(await sendAgain(database.db, waiting, 60_000)).toBe(true);
  expect((await countOverdue(database.db)).unsent).toBe(1);
  const [next] = await claim({ slots: 1 });
  expect(next?.payout.id).toBe(called);
});

test('many senders at once take each slot once and each payout once', async () => {
  await ensureSlots(database.db, 8);
  await storeDuePayouts(database.db, 50);
  await storeDuePayouts(database.db, 50);
  const claims = (await Promise.all(Array.from({ length: 10 }, () => claim()))).flat();
  expect(claims.length).toBeGreaterThan(0);
  const all = [...claims, ...(await claim())];
  expect(all).toHaveLength(8);
  expect(new Set(all.map(({ slot }) => slot)).size).toBe(8);
  expect(new Set(all.map(({ payout }) => payout.id)).size).toBe(8);
  expect(await claim()).toEqual([]);
});

test('a slot is free again when its call has ended, and no earlier holder can free it', async () => {
  await ensureSlots(database.db, 1);
  await storeDuePayouts(database.db, 3);
  const [first] = await claim({ slots: 1 });
  if (!first) throw new Error('nothing was claimed');
  await releaseSlots(database.db, [first]);
  const [second] = await claim({ slots: 1 });
  expect(second?.slot).toBe(1);
  await releaseSlots(database.db, [first]);
  expect(await claim({ slots: 1 })).toEqual([]);
});

test('the slot of a dead sender is free when its lease ends, and a late word of it changes nothing', async () => {
  await ensureSlots(database.db, 1);
  await storeDuePayouts(database.db, 2);
  const [dead] = await claim({ slots: 1 });
  if (!dead) throw new Error('nothing was claimed');
  expect(await claim({ slots: 1 })).toEqual([]);
  await database.db.query(sql`update send_slots set lease_until = now() - interval '1 ms'`);
  const [next] = await claim({ slots: 1 });
  expect(next?.slotToken).not.toBe(dead.slotToken);
  await releaseSlots(database.db, [dead]);
  const slots = await database.db.query(sql`select lease_token from send_slots`);
  expect(slots).toEqual([{ lease_token: next?.slotToken }]);
});

test('fewer slots than before leave the others at rest; ensuring them again adds nothing', async () => {
  await ensureSlots(database.db, 8);
  await ensureSlots(database.db, 8);
  await ensureSlots(database.db, 2);
  await storeDuePayouts(database.db, 5);
  const claims = await claim({ slots: 2 });
  expect(claims.map(({ slot }) => slot).sort()).toEqual([1, 2]);
  const [row] = await database.db.query(sql`select count(*)::int as count from send_slots`);
  expect(row).toEqual({ count: 8 });
});

test('a sender claims with the slots that it holds, under new leases, and takes no others for them', async () => {
  await ensureSlots(database.db, 2);
  await storeDuePayouts(database.db, 3);
  const first = await claim({ slots: 2, limit: 1 });
  expect(await claim({ slots: 1 })).toEqual([]);
  const again = await claim({ slots: 1, held: first });
  expect(again.map(({ slot }) => slot)).toEqual([1]);
  expect(again[0]?.slotToken).not.toBe(first[0]?.slotToken);
  // Its former token holds nothing any more.
  expect(await claim({ slots: 1, held: first })).toEqual([]);
});
