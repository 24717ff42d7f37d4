import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import { NOW, stateFor } from '#test/batch-states.ts';
import {
  receivedPixCredit,
  disputeReturn,
  holdRelease,
  holdSettle,
  holdTake,
  holdVoid,
} from '#test/ledger-commands.ts';

import { decideBatch } from './decide-batch.ts';
import { type PixDebits, untouchedPix } from './pix-debits.ts';

const endToEndId = 'E12345678202611211200refund00001';
const take = holdTake({ amount: 60, endToEndId });
const { accountId } = take;
const received = untouchedPix(accountId, endToEndId, 100n);
const disputed: PixDebits = { ...received, blocked: 40n, disputeId: newId(), disputed: 40n };

type Standing = { available?: number; blocked?: number; forcedDebit?: number };

function decide(commands: readonly LedgerCommand[], standing: Standing, pix?: PixDebits) {
  const state = stateFor(commands, {
    accounts: { [accountId]: standing },
    ...(pix ? { pix: [pix] } : {}),
  });
  const { outcomes, writes } = decideBatch(state, commands);
  const after = writes.accounts.get(accountId);
  return { outcomes, writes, after, pix: [...writes.pix.values()][0] };
}

describe('taking the hold of a refund', () => {
  test('moves it out of the balance, and records its Pix', () => {
    const { outcomes, writes, after, pix } = decide([take], { available: 60 }, received);
    expect(outcomes).toMatchObject([{ code: 'booked', hold: { state: 'open', kind: 'refund' } }]);
    expect(after?.balances).toMatchObject({ available: 0n, held: 60n });
    expect(pix).toMatchObject({ refunding: 60n });
    expect([...writes.holds.values()]).toMatchObject([{ refund: { endToEndId, fromBlock: 0n } }]);
    expect(writes.events).toEqual([]);
  });

  test('takes what is blocked first, and needs only the rest in the balance', () => {
    const { after, writes, pix } = decide([take], { available: 20, blocked: 40 }, disputed);
    expect(after?.balances).toMatchObject({ available: 0n, blocked: 0n, held: 60n });
    expect(pix).toMatchObject({ blocked: 0n, shortfall: 40n });
    expect([...writes.holds.values()]).toMatchObject([{ refund: { fromBlock: 40n } }]);
  });

  test('asks nothing of the balance where the block has it all, even below zero', () => {
    const small = holdTake({ ...take, amount: 40, fee: 0 });
    const standing = { available: -10, forcedDebit: 10, blocked: 40 };
    const { outcomes, after } = decide([small], standing, disputed);
    expect(outcomes).toMatchObject([{ code: 'booked' }]);
    expect(after).toMatchObject({ forcedDebit: 10n, balances: { available: -10n, held: 40n } });
  });

  test.each<[string, Standing, PixDebits | undefined]>([
    ['insufficient_balance', { available: 19, blocked: 40 }, disputed],
    ['insufficient_balance', { available: 59 }, received],
    ['exceeds_received', { available: 500 }, { ...received, refunded: 41n }],
    ['exceeds_received', { available: 500 }, { ...received, returned: 20n, refunding: 21n }],
    ['unknown_pix', { available: 500 }, undefined],
  ])('is refused for ever: %s', (code, standing, pix) => {
    const { outcomes, writes, after } = decide([take, take], standing, pix);
    expect(outcomes).toMatchObject([
      { code, version: null, hold: { state: 'refused' }, repeated: false },
      { code, repeated: true },
    ]);
    expect(after).toBeUndefined();
    expect([writes.pix.size, writes.entries.length]).toEqual([0, 0]);
  });

  test('meets what the others of its batch have taken of the Pix', () => {
    const others = [1, 2].map(() => holdTake({ accountId, amount: 60, endToEndId }));
    const { outcomes } = decide(
      [receivedPixCredit({ accountId, endToEndId, amount: 100 }), ...others],
      {},
    );
    expect(outcomes).toMatchObject([
      { code: 'booked' },
      { code: 'booked' },
      { code: 'exceeds_received' },
    ]);
  });

  test('after a void is refused without asking for its Pix', () => {
    const { outcomes } = decide([holdVoid(take), take], { available: 500 });
    expect(outcomes).toMatchObject([{ code: 'noted' }, { code: 'voided' }]);
  });
});

describe('ending the hold of a refund', () => {
  test('settled: the money is with the payer, the platform has no fee', () => {
    const commands = [take, holdSettle(take)];
    const { after, pix, writes } = decide(commands, { available: 20, blocked: 40 }, disputed);
    expect(after?.balances).toMatchObject({ held: 0n, acquirer_clearing: 60n, fees: 0n });
    expect(pix).toMatchObject({ refunding: 0n, refunded: 60n, shortfall: 0n, blocked: 0n });
    expect(writes.events).toMatchObject([{ code: 'booked', hold: { state: 'settled' } }]);
  });

  test('released while the dispute is open: what it took from the block is back there', () => {
    const commands = [take, holdRelease(take)];
    const { after, pix } = decide(commands, { available: 20, blocked: 40 }, disputed);
    expect(after?.balances).toMatchObject({ held: 0n, available: 20n, blocked: 40n });
    expect(pix).toMatchObject(disputed);
  });

  test('released without a dispute: all of it is in the balance', () => {
    const { after, pix } = decide([take, holdRelease(take)], { available: 60 }, received);
    expect(after?.balances).toMatchObject({ available: 60n, held: 0n, blocked: 0n });
    expect(pix).toEqual(received);
  });

  test('not settled beside returns that leave less of the Pix; it can be released', () => {
    const lost = disputeReturn({ accountId, endToEndId, amount: 50, from: 'available' });
    const commands = [take, lost, holdSettle(take), holdRelease(take), holdSettle(take)];
    const { outcomes, after } = decide(commands, { available: 100 }, received);
    expect(outcomes).toMatchObject([
      { code: 'booked' },
      { code: 'booked' },
      { kind: 'rejected', reason: 'exceeds_received' },
      { code: 'booked', hold: { state: 'released' } },
      { code: 'already_released', repeated: false },
    ]);
    expect(after?.balances).toMatchObject({ available: 50n, held: 0n, acquirer_clearing: 50n });
  });

  test('once', () => {
    const commands = [take, holdSettle(take), holdRelease(take), holdSettle(take)];
    const { outcomes, pix } = decide(commands, { available: 60 }, received);
    expect(outcomes).toMatchObject([
      { code: 'booked' },
      { code: 'booked' },
      { code: 'already_settled' },
      { code: 'booked', repeated: true },
    ]);
    expect(pix).toMatchObject({ refunded: 60n, refunding: 0n });
  });
});

test('a refund without its Pix, or with a fee, is a bug of the caller', () => {
  for (const wrong of [
    holdTake({ holdKind: 'refund' }),
    holdTake({ endToEndId, fee: 1 }),
    holdTake({ endToEndId, holdKind: 'payout' }),
  ]) {
    const state = stateFor([wrong], { accounts: { [wrong.accountId]: { available: 5_000 } } });
    expect(() => decideBatch({ ...state, nowMs: NOW.getTime() }, [wrong])).toThrow(/refund/);
  }
});
