import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Hold } from '#commands/outcome.ts';
import { NOW, stateFor } from '#test/batch-states.ts';
import {
  holdSettle,
  holdTake,
  payoutReturnCredit,
  payoutSuspend,
  receivedPixCredit,
} from '#test/ledger-commands.ts';

import { decideBatch } from './decide-batch.ts';

const taken = holdTake({ amount: 100, fee: 5 });
const { accountId, holdId, resourceId: payoutId } = taken;
const settled: Hold = {
  holdId,
  accountId,
  resourceId: payoutId,
  kind: 'payout',
  amount: 100n,
  fee: 5n,
  state: 'settled',
  createdAt: NOW,
};

function decide(
  commands: readonly LedgerCommand[],
  { hold = settled, before = 0n }: { hold?: Hold | null; before?: bigint } = {},
) {
  const holds = hold ? [hold] : [];
  const cameBack = new Map([[payoutId, before]]);
  const { outcomes, writes } = decideBatch(stateFor(commands, { holds, cameBack }), commands);
  const codes = outcomes.map((one) => (one.kind === 'rejected' ? one.reason : one.code));
  return { codes, writes, balances: writes.accounts.get(accountId)?.balances };
}

const credit = (amount: number) => payoutReturnCredit({ accountId, payoutId, amount });
const stayed = (amount: number) =>
  payoutSuspend({
    accountId,
    payoutId,
    amount,
    direction: 'in',
    reason: 'failed_after_completed',
  });

describe('money of a payout that came back', () => {
  test('is available', () => {
    const { codes, writes, balances } = decide([credit(40)]);
    expect(codes).toEqual(['booked']);
    expect(balances).toMatchObject({ available: 40n, acquirer_clearing: -40n });
    expect(writes.journals).toMatchObject([{ resourceId: payoutId }]);
  });

  test('stands in suspense where the acquirer says so against what it had said', () => {
    const { codes, writes, balances } = decide([stayed(100)]);
    expect(codes).toEqual(['booked']);
    expect(balances).toMatchObject({ suspense: 100n, acquirer_clearing: -100n });
    expect(writes.suspenseItems).toMatchObject([{ amount: 100n, payoutId, chargeId: null }]);
  });

  test('comes in the batch that settles it', () => {
    const commands = [
      receivedPixCredit({ accountId, amount: 105 }),
      taken,
      holdSettle(taken),
      credit(100),
    ];
    expect(decide(commands, { hold: null }).codes).toEqual(Array(4).fill('booked'));
  });

  test.each<[string, readonly LedgerCommand[], bigint, readonly string[]]>([
    ['at once', [credit(101)], 0n, ['exceeds_settled']],
    ['with what came before', [credit(61)], 40n, ['exceeds_settled']],
    ['in one batch', [credit(60), credit(41)], 0n, ['booked', 'exceeds_settled']],
    ['to suspense', [stayed(101)], 0n, ['exceeds_settled']],
    ['both ways together', [credit(1), stayed(100)], 0n, ['booked', 'exceeds_settled']],
  ])('is never more than has left, without the fee: %s', (_name, commands, before, expected) => {
    expect(decide(commands, { before }).codes).toEqual(expected);
  });

  test.each<[string, Hold | null]>([
    ['was never held', null],
    ['has not left yet', { ...settled, state: 'open' }],
    ['was given back', { ...settled, state: 'released' }],
    ['is another account’s', { ...settled, accountId: newId<AccountId>() }],
    ['is a refund’s', { ...settled, kind: 'refund' }],
  ])('that %s is refused', (_name, hold) => {
    for (const command of [credit(1), stayed(1)]) {
      const { codes, writes } = decide([command], { hold });
      expect(codes).toEqual(['unsettled_payout']);
      expect(writes.journals).toEqual([]);
    }
  });

  test('of no payout cannot stay', () => {
    const command = payoutSuspend({ accountId, payoutId: null, direction: 'in' });
    expect(decide([command]).codes).toEqual(['unsettled_payout']);
  });
});
