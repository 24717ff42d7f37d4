import assert from 'node:assert';

import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, readBalances } from '#test/read-ledger.ts';
import { holdTake } from '#test/ledger-commands.ts';
import {
  aReceivedPixCredit,
  aDispute,
  again,
  aPayoutSuspend,
  aReceivedPixReturn,
  aHoldRelease,
  aSuspenseResolve,
  aHoldSettle,
  aReceivedPixSuspend,
  aSuspenseCredit,
  type CommandWire,
  handle,
} from '#test/ledger-messages.ts';
import { aLedgerUnderTest, type LedgerUnderTest, queuedEvents } from '#test/ledger-under-test.ts';

/** What refunds, disputes and operators tell the ledger by its topic, through the service's own consumer. */
let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterEach(async () => {
  assert.deepEqual(await auditBooks(ledger.db), []);
});
afterAll(() => ledger[Symbol.asyncDispose]());

/** A Pix that was credited: what commands about it have in common. */
async function aPix(amount: number) {
  const accountId = newId();
  const credit = aReceivedPixCredit({ accountId, amount });
  await handle(ledger.engine, credit);
  const { end_to_end_id: endToEndId, charge_id: chargeId } = credit.data;
  return { accountId, endToEndId, chargeId: chargeId ?? '', disputeId: newId() };
}

async function handleAll(...messages: readonly CommandWire[]): Promise<void> {
  for (const message of messages) await handle(ledger.engine, message);
}

async function lastEvent(accountId: string) {
  return (await queuedEvents(ledger.db, accountId)).at(-1);
}

describe('the life of a dispute', () => {
  test('blocked and won: the money is back, and every step is told with what moved', async () => {
    const pix = await aPix(1_000);
    await handleAll(aDispute('dispute.block', { ...pix, amount: 1_000 }));
    expect(await readBalances(ledger.db, pix.accountId)).toMatchObject({ blocked: 1_000 });
    expect(await lastEvent(pix.accountId)).toMatchObject({
      type: 'dispute.blocked',
      message: { data: { dispute_id: pix.disputeId, amount: 1_000, balance: { available: 0 } } },
    });
    await handleAll(aDispute('dispute.unblock', { ...pix, amount: 1_000 }));
    expect(await readBalances(ledger.db, pix.accountId)).toEqual({
      available: 1_000,
      acquirer_clearing: -1_000,
    });
    expect(await lastEvent(pix.accountId)).toMatchObject({
      type: 'dispute.unblocked',
      message: { data: { amount: 1_000 } },
    });
  });

  test('lost in part: what was returned leaves the block, the rest comes back', async () => {
    const pix = await aPix(1_000);
    await handleAll(
      aDispute('dispute.block', { ...pix, amount: 1_000 }),
      aDispute('dispute.return', { ...pix, amount: 700 }),
      aDispute('dispute.unblock', { ...pix, amount: 1_000 }),
    );
    expect(await readBalances(ledger.db, pix.accountId)).toEqual({
      available: 300,
      acquirer_clearing: -300,
    });
    expect(await lastEvent(pix.accountId)).toMatchObject({ message: { data: { amount: 300 } } });
  });

  test('lost after a win: the return leaves the balance, even below zero', async () => {
    const pix = await aPix(1_000);
    const payout = holdTake({ accountId: pix.accountId as never, amount: 900 });
    await ledger.submit(payout);
    await handleAll(aDispute('dispute.return', { ...pix, amount: 1_000, from: 'available' }));
    expect(await readBalances(ledger.db, pix.accountId)).toEqual({ available: -900, held: 900 });
  });

  test('refunded meanwhile: the refund comes out of the block, nothing is left to unblock', async () => {
    const pix = await aPix(1_000);
    await handleAll(aDispute('dispute.block', { ...pix, amount: 1_000 }));
    const refund = holdTake({ ...pix, accountId: pix.accountId as never, amount: 1_000 });
    expect(await ledger.submit(refund)).toMatchObject({ code: 'booked' });
    await handleAll(aHoldSettle(refund), aDispute('dispute.unblock', { ...pix, amount: 1_000 }));
    expect(await readBalances(ledger.db, pix.accountId)).toEqual({});
    expect(await lastEvent(pix.accountId)).toMatchObject({
      type: 'dispute.unblocked',
      message: { data: { amount: 0 } },
    });
  });

  test('a refund that fails goes back to the block, also what it kept from being blocked', async () => {
    const pix = await aPix(1_000);
    const early = holdTake({ ...pix, accountId: pix.accountId as never, amount: 600 });
    await ledger.submit(early);
    await handleAll(aDispute('dispute.block', { ...pix, amount: 1_000 }));
    expect(await lastEvent(pix.accountId)).toMatchObject({ message: { data: { amount: 400 } } });
    const late = holdTake({ ...pix, accountId: pix.accountId as never, amount: 300 });
    await ledger.submit(late);
    await handleAll(aHoldRelease(early), aHoldRelease(late));
    expect(await readBalances(ledger.db, pix.accountId)).toEqual({
      blocked: 1_000,
      acquirer_clearing: -1_000,
    });
  });

  test('of a Pix no more is returned than it was, by whatever commands', async () => {
    const pix = await aPix(1_000);
    await handleAll(aDispute('dispute.return', { ...pix, amount: 999, from: 'available' }));
    const rows = await countAllRows(ledger.db);
    for (const message of [
      aDispute('dispute.return', { ...pix, amount: 2 }),
      aReceivedPixReturn({ ...pix, amount: 2 }),
    ]) {
      await expect(handleAll(message)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    }
    expect(await countAllRows(ledger.db)).toEqual(rows);
    await handleAll(aReceivedPixReturn({ ...pix, amount: 1 }));
    expect(await lastEvent(pix.accountId)).toMatchObject({
      type: 'received_pix.returned',
      message: { data: { charge_id: pix.chargeId, end_to_end_id: pix.endToEndId, amount: 1 } },
    });
  });

  test('of a Pix that is another account’s, or in suspense, is parked', async () => {
    const pix = await aPix(1_000);
    const suspended = aReceivedPixSuspend();
    await handleAll(suspended);
    const details = { disputeId: newId(), amount: 10 };
    for (const of of [
      { ...pix, accountId: newId() },
      { ...pix, accountId: suspended.account_id!, endToEndId: suspended.data.end_to_end_id },
    ]) {
      const message = aDispute('dispute.block', { ...of, ...details });
      await expect(handleAll(message)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    }
  });
});

describe('money in suspense', () => {
  test.each([
    ['accept', { available: 40 }],
    ['return', {}],
  ] as const)('is resolved once: %s', async (action, parts) => {
    const item = aReceivedPixSuspend({ amount: 40 });
    const accountId = item.account_id!;
    await handleAll(item, aSuspenseResolve(item, action));
    expect(await readBalances(ledger.db, accountId)).toMatchObject(parts);
    const [row] = await ledger.db.query<{ resolved: boolean }>(sql`
      select resolved_at is not null and resolved_at >= created_at as resolved
      from suspense_items where id = ${item.data.command_id}`);
    expect(row).toEqual({ resolved: true });
    expect(await lastEvent(accountId)).toMatchObject({
      type: 'suspense.resolved',
      message: { data: { item_id: item.data.command_id, action, amount: 40 } },
    });
    const other = aSuspenseResolve(item, action === 'accept' ? 'return' : 'accept');
    await expect(handleAll(other)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('that nobody owned is handed over to its owner, in either order', async () => {
    for (const isReversed of [false, true]) {
      const item = aReceivedPixSuspend({
        accountId: null,
        chargeId: null,
        amount: 40,
        reason: 'unowned',
      });
      const before = (await readBalances(ledger.db, PLATFORM_ACCOUNT_ID)).suspense ?? 0;
      await handleAll(item);
      const owner = newId();
      const details = [aSuspenseResolve(item, 'hand_over'), aSuspenseCredit(item, owner)];
      await handleAll(...(isReversed ? details.toReversed() : details));
      expect(await readBalances(ledger.db, owner)).toEqual({
        available: 40,
        acquirer_clearing: -40,
      });
      expect((await readBalances(ledger.db, PLATFORM_ACCOUNT_ID)).suspense ?? 0).toBe(before);
      expect(await lastEvent(owner)).toMatchObject({ type: 'suspense.credited' });
    }
  });

  test('that the acquirer sent back in part is accepted for exactly what is left', async () => {
    const item = aReceivedPixSuspend({ amount: 40 });
    const accountId = item.account_id!;
    const part = (amount: number) => ({
      ...aSuspenseResolve(item, 'return'),
      data: { ...aSuspenseResolve(item, 'return').data, command_id: newId(), amount },
    });
    const rest = aSuspenseResolve(item, 'accept');
    await handleAll(item, part(15));
    await expect(handleAll(rest)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    expect(await readItem(item.data.command_id)).toEqual({ amount: 25n, is_open: true });
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ suspense: 25 });
    await handleAll(part(5), { ...rest, data: { ...rest.data, amount: 20 } });
    expect(await readBalances(ledger.db, accountId)).toEqual({
      available: 20,
      acquirer_clearing: -20,
    });
    expect(await readItem(item.data.command_id)).toEqual({ amount: 20n, is_open: false });
    await expect(handleAll(part(1))).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
  });

  test('that stayed although its payout had completed is accepted for its owner', async () => {
    const accountId = newId();
    const item = aPayoutSuspend({ accountId, direction: 'in', amount: 40 });
    const { command_id: item_id, payout_id, end_to_end_id } = item.data;
    await handleAll(item, {
      ...aSuspenseResolve(aReceivedPixSuspend({ accountId, amount: 40 }), 'accept'),
      data: {
        command_id: deriveCommandId('suspense.resolve', item_id),
        item_id,
        payout_id,
        end_to_end_id,
        charge_id: null,
        amount: 40,
        action: 'accept',
      },
    });
    expect(await readBalances(ledger.db, accountId)).toEqual({
      available: 40,
      acquirer_clearing: -40,
    });
    expect(await readItem(item_id)).toEqual({ amount: 40n, is_open: false });
    expect(await lastEvent(accountId)).toMatchObject({
      type: 'suspense.resolved',
      message: { data: { item_id, payout_id, action: 'accept' } },
    });
  });

  async function readItem(id: string) {
    const [row] = await ledger.db.query<{ amount: bigint; is_open: boolean }>(
      sql`select amount, resolved_at is null as is_open from suspense_items where id = ${id}`,
    );
    return row;
  }

  test('that is unknown, or of another amount, is parked and can be told again', async () => {
    const item = aReceivedPixSuspend({ amount: 40 });
    const early = aSuspenseResolve(item, 'accept');
    await expect(handleAll(early)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    await handleAll(item);
    const wrong = { ...early, data: { ...early.data, amount: 41 } };
    await expect(handleAll(wrong)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
    await handleAll(early);
  });
});

describe('a command', () => {
  test('that comes again is answered its first outcome, and moves nothing', async () => {
    const pix = await aPix(1_000);
    const owned = aReceivedPixSuspend({ accountId: pix.accountId, amount: 40 });
    const messages = [
      aDispute('dispute.block', { ...pix, amount: 500 }),
      aDispute('dispute.return', { ...pix, amount: 200 }),
      aReceivedPixReturn({ ...pix, amount: 100 }),
      aDispute('dispute.unblock', { ...pix, amount: 500 }),
      owned,
      aSuspenseResolve(owned, 'accept'),
      aSuspenseCredit(aReceivedPixSuspend({ amount: 7 }), pix.accountId),
    ];
    await handleAll(...messages);
    const [rows, balances] = [
      await countAllRows(ledger.db),
      await readBalances(ledger.db, pix.accountId),
    ];
    for (const message of messages) await handleAll(again(message));
    expect(await countAllRows(ledger.db)).toEqual(rows);
    expect(await readBalances(ledger.db, pix.accountId)).toEqual(balances);
  });

  test('with another content under its id is refused', async () => {
    const pix = await aPix(1_000);
    const item = aReceivedPixSuspend({ accountId: pix.accountId, amount: 40 });
    await handleAll(item);
    const messages = [
      aDispute('dispute.block', { ...pix, amount: 500 }),
      aDispute('dispute.return', { ...pix, amount: 200 }),
      aReceivedPixReturn({ ...pix, amount: 100 }),
      aSuspenseResolve(item, 'accept'),
      aSuspenseCredit(aReceivedPixSuspend({ amount: 7 }), pix.accountId),
    ];
    for (const message of messages) {
      await handleAll(message);
      const { data } = message;
      const others = [
        { ...data, amount: data.amount + 1 },
        { ...data, charge_id: newId() },
        { ...data, end_to_end_id: 'E00000000202611211200other000001' },
      ];
      for (const other of others) {
        const details = handleAll({ ...message, data: other } as CommandWire);
        await expect(details).rejects.toMatchObject({ code: 'CONFLICT' });
      }
    }
  });

  test('ids of one Pix: a credit is found by the id that charges derives', async () => {
    const pix = await aPix(10);
    const [row] = await ledger.db.query<{ kind: string }>(sql`
      select kind from journals
      where command_id = ${deriveCommandId('received_pix', pix.endToEndId)}`);
    expect(row).toEqual({ kind: 'credit_received_pix' });
  });
});
