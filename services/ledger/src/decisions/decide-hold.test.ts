import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Hold, Outcome } from '#commands/outcome.ts';
import { account, NOW, stateFor } from '#test/batch-states.ts';
import { holdRelease, holdSettle, holdTake, holdVoid } from '#test/ledger-commands.ts';

import { decideBatch } from './decide-batch.ts';

const take = holdTake({ amount: 1_000, fee: 25 });
const { accountId, holdId, resourceId } = take;

function standing(state: Hold['state'], changes: Partial<Hold> = {}): Hold {
  const isEmpty = state === 'voided' || changes.amount === 0n;
  return {
    holdId,
    accountId,
    resourceId,
    kind: isEmpty ? null : 'payout',
    amount: isEmpty ? 0n : 1_000n,
    fee: isEmpty ? 0n : 25n,
    state,
    createdAt: NOW,
    ...changes,
  };
}

/** One command on top of a balance and the hold it is about. */
function decideOne(command: LedgerCommand, given: { available?: number; hold?: Hold } = {}) {
  const { available = 5_000, hold } = given;
  const held = hold?.state === 'open' ? Number(hold.amount + hold.fee) : 0;
  const state = stateFor([command], {
    accounts: { [command.accountId]: { available, held, version: 3 } },
    holds: hold ? [hold] : [],
  });
  const { outcomes, writes } = decideBatch(state, [command]);
  return { outcome: outcomes[0]!, writes, after: writes.accounts.get(command.accountId) };
}

function codeOf(outcome: Outcome): string {
  return outcome.kind === 'decided' ? outcome.code : outcome.reason;
}

describe('taking a hold', () => {
  test('moves amount and fee together and opens the hold', () => {
    const { outcome, writes, after } = decideOne(take);
    expect(outcome).toMatchObject({
      kind: 'decided',
      code: 'booked',
      version: 4n,
      repeated: false,
      hold: { state: 'open', amount: 1_000n, fee: 25n, kind: 'payout', createdAt: NOW },
    });
    expect(after).toEqual(
      account({ available: 3_975, held: 1_025, version: 4, movedAtMs: NOW.getTime() }),
    );
    expect([...writes.holds.keys()]).toEqual([holdId]);
    expect(writes.events).toEqual([]);
  });

  test.each([
    [1_025, 'booked'],
    [1_024, 'insufficient_balance'],
    [1_000, 'insufficient_balance'],
    [0, 'insufficient_balance'],
    [-1, 'insufficient_balance'],
  ])('of 1000 and a fee of 25 with %i available: %s', (available, code) => {
    expect(codeOf(decideOne(take, { available }).outcome)).toBe(code);
  });

  test('refused, it moves nothing and stands refused', () => {
    const { outcome, writes, after } = decideOne(take, { available: 0 });
    expect(outcome).toMatchObject({ version: null, hold: { state: 'refused', amount: 1_000n } });
    expect(after).toBeUndefined();
    expect(writes.entries).toEqual([]);
    expect(writes.journals).toMatchObject([{ code: 'insufficient_balance', version: null }]);
  });

  test('money that is owed after a forced debit is never lent', () => {
    const state = stateFor([take], {
      accounts: { [accountId]: { available: -50, forcedDebit: 50 } },
    });
    expect(codeOf(decideBatch(state, [take]).outcomes[0]!)).toBe('insufficient_balance');
  });

  test.each(['open', 'settled'] as const)('for a resource whose hold is %s is refused', (state) => {
    const other = standing(state, { holdId: newId<HoldId>() });
    const { outcome } = decideOne(take, { hold: other });
    expect(outcome).toMatchObject({ code: 'resource_held', hold: { holdId, state: 'refused' } });
  });

  test.each(['released', 'refused', 'voided'] as const)(
    'for a resource whose hold was %s is taken',
    (state) => {
      const other = standing(state, { holdId: newId<HoldId>() });
      expect(codeOf(decideOne(take, { hold: other }).outcome)).toBe('booked');
    },
  );

  test.each([
    ['voided', standing('voided')],
    ['released', standing('released', { amount: 0n })],
  ] as const)('that was %s before it came is refused', (state, hold) => {
    const { outcome, writes } = decideOne(take, { hold });
    expect(outcome).toMatchObject({ code: 'voided', version: null, hold: { state, amount: 0n } });
    expect(writes.holds.size).toBe(0);
  });
});

describe('voiding a hold', () => {
  const command = holdVoid(take);

  test('that never came leaves a row without money', () => {
    const { outcome, writes } = decideOne(command);
    expect(outcome).toMatchObject({ code: 'noted', version: null, hold: { state: 'voided' } });
    expect([...writes.holds.values()]).toMatchObject([{ holdId, kind: null, amount: 0n, fee: 0n }]);
    expect(writes.entries).toEqual([]);
  });

  test.each([
    ['open', standing('open'), 'already_held'],
    ['settled', standing('settled'), 'already_held'],
    ['released', standing('released'), 'already_held'],
    ['released before it came', standing('released', { amount: 0n }), 'noted'],
    ['refused', standing('refused'), 'noted'],
  ])('that is %s changes nothing: %s', (_name, hold, code) => {
    const { outcome, writes, after } = decideOne(command, { hold });
    expect(outcome).toMatchObject({ code, hold });
    expect(writes.holds.size).toBe(0);
    expect(after).toBeUndefined();
  });
});

describe('ending a hold', () => {
  test('a settlement pays the amount out and the fee to the platform', () => {
    const { outcome, writes, after } = decideOne(holdSettle(take), { hold: standing('open') });
    expect(outcome).toMatchObject({ code: 'booked', hold: { state: 'settled' } });
    expect(after?.balances).toEqual(
      account({ available: 5_000, acquirer_clearing: 1_000, fees: 25 }).balances,
    );
    expect(writes.events).toMatchObject([
      { code: 'booked', hold: { state: 'settled', amount: 1_000n, fee: 25n } },
    ]);
    expect(writes.journals).toMatchObject([{ resourceId }]);
  });

  test('a release gives amount and fee back (decision 113)', () => {
    const { outcome, writes, after } = decideOne(holdRelease(take), { hold: standing('open') });
    expect(outcome).toMatchObject({ code: 'booked', hold: { state: 'released' } });
    expect(after?.balances).toEqual(account({ available: 6_025 }).balances);
    expect(writes.events).toMatchObject([{ balances: { available: 6_025n, pending: 0n } }]);
  });

  test.each([
    ['settle', holdSettle(take), 'released', 'already_released'],
    ['settle', holdSettle(take), 'voided', 'already_voided'],
    ['settle', holdSettle(take), 'settled', 'already_settled'],
    ['release', holdRelease(take), 'settled', 'already_settled'],
    ['release', holdRelease(take), 'voided', 'already_voided'],
    ['release', holdRelease(take), 'released', 'already_released'],
  ] as const)('%s: %o after it was %s says so and moves nothing', (_name, command, state, code) => {
    const { outcome, writes, after } = decideOne(command, { hold: standing(state) });
    expect(outcome).toMatchObject({ code, version: null, hold: { state } });
    expect(after).toBeUndefined();
    expect(writes.events).toMatchObject([{ code, hold: { state } }]);
  });

  test('a settlement of a hold that nobody knows is wrong in itself and leaves no trace', () => {
    const { outcome, writes } = decideOne(holdSettle(take));
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'unknown_hold' });
    expect(writes.journals).toEqual([]);
    expect(writes.events).toEqual([]);
  });

  test('so is a settlement of a hold that was refused', () => {
    const { outcome } = decideOne(holdSettle(take), { hold: standing('refused') });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'unknown_hold' });
  });

  test('a release before its hold takes nothing and keeps the hold from coming', () => {
    const { outcome, writes } = decideOne(holdRelease(take));
    expect(outcome).toMatchObject({ code: 'noted', hold: { state: 'released', amount: 0n } });
    expect(writes.events).toMatchObject([{ code: 'noted', hold: { amount: 0n, fee: 0n } }]);
  });

  test('a release of a refused hold gives nothing back and leaves it refused', () => {
    const { outcome, writes, after } = decideOne(holdRelease(take), { hold: standing('refused') });
    expect(outcome).toMatchObject({ code: 'noted', hold: { state: 'refused' } });
    expect(after).toBeUndefined();
    expect(writes.events).toMatchObject([{ hold: { amount: 0n, fee: 0n } }]);
    expect(writes.holds.size).toBe(0);
  });
});

describe('a hold of somebody else', () => {
  const foreign = { accountId: newId<AccountId>(), holdId, resourceId };
  const otherResource = { accountId, holdId, resourceId: newId() };

  test.each([
    ['taken', holdTake(foreign)],
    ['taken for another resource', holdTake(otherResource)],
    ['voided', holdVoid(foreign)],
    ['settled', holdSettle(foreign)],
    ['settled for another resource', holdSettle(otherResource)],
    ['released', holdRelease(foreign)],
  ])('cannot be %s', (_name, command) => {
    const { outcome, writes } = decideOne(command, { hold: standing('open') });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'foreign_hold' });
    expect(writes.journals).toEqual([]);
  });
});

describe('one batch', () => {
  const decide = (commands: readonly LedgerCommand[], available = 5_000) =>
    decideBatch(stateFor(commands, { accounts: { [accountId]: { available } } }), commands);
  const codes = (commands: readonly LedgerCommand[], available?: number) =>
    decide(commands, available).outcomes.map((outcome) => codeOf(outcome));

  test('takes exactly as many holds as there is money for, in their order', () => {
    const holds = Array.from({ length: 10 }, () => holdTake({ accountId, amount: 99, fee: 1 }));
    expect(codes(holds, 730)).toEqual([
      ...Array.from({ length: 7 }, () => 'booked'),
      ...Array.from({ length: 3 }, () => 'insufficient_balance'),
    ]);
  });

  test('lets a hold be taken, settled and its end repeated', () => {
    const { outcomes, writes } = decide([take, holdSettle(take), holdSettle(take)]);
    expect(outcomes).toMatchObject([
      { code: 'booked', repeated: false },
      { code: 'booked', repeated: false },
      { code: 'booked', repeated: true },
    ]);
    expect(writes.events).toHaveLength(1);
    expect([...writes.holds.values()]).toMatchObject([{ state: 'settled' }]);
  });

  test('ends a hold once, whichever end comes first', () => {
    expect(codes([take, holdRelease(take), holdSettle(take)])).toEqual([
      'booked',
      'booked',
      'already_released',
    ]);
    expect(codes([take, holdSettle(take), holdRelease(take)])).toEqual([
      'booked',
      'booked',
      'already_settled',
    ]);
  });

  test('lets a void win over a hold that comes behind it', () => {
    expect(codes([holdVoid(take), take])).toEqual(['noted', 'voided']);
    expect(codes([take, holdVoid(take)])).toEqual(['booked', 'already_held']);
  });

  test('lets a resource be held again once its hold has been released', () => {
    const second = holdTake({ accountId, resourceId });
    const third = holdTake({ accountId, resourceId });
    expect(codes([take, second, holdRelease(take), third])).toEqual([
      'booked',
      'resource_held',
      'booked',
      'booked',
    ]);
  });
});
