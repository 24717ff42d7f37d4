import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import type { PayoutId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { payoutReturnCredit } from '#payouts/ledger-commands.ts';
import { suspendContradiction } from '#settlement/suspend-contradiction.ts';
import { isVisible } from '#payouts/payout-row.ts';
import { anAcquirerPayout, aReturn } from '#test/an-acquirer-payout.ts';
import { startSendingUnderTest, type SendingUnderTest } from '#test/sending-under-test.ts';
import { storePayout } from '#test/store-payout.ts';

import { checkPayoutStatus } from './check-payout.ts';
import { insertReturn } from './payout-returns.sql.ts';

/** Returns that would pay the same money twice. */

let mesh: SendingUnderTest;
beforeAll(async () => {
  mesh = await startSendingUnderTest();
});
afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
});

const AMOUNT = toCents(1_000);

async function aCompletedPayout(): Promise<PayoutId> {
  const endToEndId = `E${newId().replaceAll('-', '').slice(1)}`;
  return (await storePayout(mesh.db, { status: 'completed', endToEndId })).id;
}

async function contradict(id: PayoutId): Promise<void> {
  const payout = await mesh.find(id);
  if (!isVisible(payout)) throw new Error('an intent is not contradicted');
  expect(await suspendContradiction(mesh.deps, payout, 'failed_after_completed')).toBe(true);
}

/** One check of a settled order with these returns. */
async function check(id: PayoutId, ...returns: PixReturn[]): Promise<void> {
  const payout = await mesh.find(id);
  const value = anAcquirerPayout({
    endToEndId: payout.endToEndId ?? '',
    amountCents: AMOUNT,
    status: 'settled',
    returns,
  });
  const acquirer = { getPayout: () => Promise.resolve({ kind: 'found', value } as const) };
  await checkPayoutStatus({ ...mesh.deps, acquirer }, payout);
}

async function returnsOf(id: PayoutId) {
  return await mesh.db.query<{ return_id: string; amount: bigint }>(sql`
    select return_id, amount from payout_returns where payout_id = ${id}`);
}

async function creditsOf(id: PayoutId): Promise<string[]> {
  return (await mesh.eventsOf(id)).filter((type) => type === 'payout_return.credit');
}

function logged(id: PayoutId, message: string): string[] {
  return mesh.logLines.filter((line) => line.includes(id) && line.includes(message));
}

/** An id of the acquirer's, which no other payout has. */
function aReturnOf(cents: number, returnId = `D${newId()}`): PixReturn {
  return aReturn({ returnId, amountCents: toCents(cents) });
}

test('up to the amount of a payout is credited as returned: one more is never booked, and an operator is told', async () => {
  const id = await aCompletedPayout();
  const [first, second] = [aReturnOf(1_000), aReturnOf(1_000)];
  await check(id, first);
  await check(id, first, second);
  await check(id, second, aReturnOf(1));
  expect(await returnsOf(id)).toEqual([{ return_id: first.returnId, amount: AMOUNT }]);
  expect(await creditsOf(id)).toHaveLength(1);
  expect(logged(id, 'returns exceed its amount')).toHaveLength(3);
});

test('a return waits for another one that is being recorded, and counts it', async () => {
  const id = await aCompletedPayout();
  const payout = await mesh.find(id);
  await using admin = createPool({ url: mesh.adminUrl, applicationName: 'test', max: 1 });
  const waiting = await mesh.db.transaction(async (tx) => {
    await tx.query(sql`select from payouts where id = ${id} for no key update`);
    await tx.query(sql`
      insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
      values ('E1', ${newId()}, ${id}, ${payout.accountId}, 600)`);
    const returned = { endToEndId: 'E1', returnId: `D${newId()}`, amount: toCents(600) };
    const command = payoutReturnCredit(payout, returned);
    const outcome = insertReturn(mesh.db, payout, { returned, command });
    await eventually(async () => expect(await countLockWaits(admin)).toBe(1));
    return { outcome };
  });
  expect(await waiting.outcome).toBe('above_amount');
  expect(await returnsOf(id)).toHaveLength(1);
});

test('a return that is shown under another end-to-end id is credited once', async () => {
  const id = await aCompletedPayout();
  const returned = aReturnOf(500);
  await check(id, returned);
  await mesh.db.query(sql`update payouts set end_to_end_id = ${newId()} where id = ${id}`);
  await check(id, returned);
  expect(await returnsOf(id)).toHaveLength(1);
  expect(await creditsOf(id)).toHaveLength(1);
});

test('nothing is credited as returned of a payout that is contradicted, and an operator is told: its money is in suspense', async () => {
  const id = await aCompletedPayout();
  await contradict(id);
  await check(id, aReturnOf(1_000));
  expect(await returnsOf(id)).toEqual([]);
  expect(await mesh.eventsOf(id)).toEqual(['payout.suspend']);
  expect(logged(id, 'is contradicted and has a return')).toHaveLength(1);
});

test('nothing is credited as returned where a contradiction came between the check and its write', async () => {
  const id = await aCompletedPayout();
  const stale = await mesh.find(id);
  await contradict(id);
  const returned = { endToEndId: 'E1', returnId: `D${newId()}`, amount: AMOUNT };
  const command = payoutReturnCredit(stale, returned);
  expect(await insertReturn(mesh.db, stale, { returned, command })).toBe('contradicted');
  expect(await mesh.eventsOf(id)).toEqual(['payout.suspend']);
});
