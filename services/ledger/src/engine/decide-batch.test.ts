import { newId } from '@pixmesh/kernel/ids';
import type { AccountId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import { account, NOW, stateAfter, stateFor } from '#testing/batch-states.ts';
import {
  block,
  credit,
  disputeReturn,
  payoutReturn,
  payoutSuspense,
  releasePending,
  suspense,
  takeHold,
  tariff,
  unblock,
} from '#testing/ledger-commands.ts';

import { decideBatch } from './decide-batch.ts';

const accountId = newId<AccountId>();
const later = (ms: number) => new Date(NOW.getTime() + ms);

function decideOne(command: LedgerCommand, standing: Parameters<typeof account>[0] = {}) {
  const state = stateFor([command], { accounts: { [command.accountId]: standing } });
  const { outcomes, writes } = decideBatch(state, [command]);
  const after = writes.accounts.get(command.accountId);
  return { outcome: outcomes[0]!, writes, balances: after?.balances, after };
}

describe('money that comes', () => {
  test.each([
    ['no release', null, { available: 250 }],
    ['a release that has passed', later(-1), { available: 250 }],
    ['a release right now', later(0), { available: 250 }],
    ['a release one millisecond ahead', later(1), { pending: 250 }],
    ['a release a month ahead', later(30 * 86_400_000), { pending: 250 }],
  ])('with %s', (_name, releaseAt, parts) => {
    const command = credit({ accountId, amount: 250, releaseAt });
    const { outcome, writes, balances } = decideOne(command);
    expect(outcome).toMatchObject({ code: 'booked', version: 1n });
    expect(balances).toEqual(account({ ...parts, acquirer_clearing: -250 }).balances);
    const { commandId } = command;
    expect(writes.releases).toEqual(
      'pending' in parts ? [{ commandId, accountId, amount: 250n, releaseAt }] : [],
    );
    expect(writes.events).toMatchObject([{ code: 'booked', balances: { ...asCents(parts) } }]);
  });

  test('goes to suspense with what an operator needs to decide', () => {
    const command = suspense({ accountId, amount: 77, reason: 'charge_closed' });
    const { writes, balances } = decideOne(command, { available: 10 });
    expect(balances).toEqual(
      account({ available: 10, suspense: 77, acquirer_clearing: -77 }).balances,
    );
    expect(writes.suspenseItems).toEqual([
      {
        commandId: command.commandId,
        accountId,
        endToEndId: command.endToEndId,
        chargeId: command.chargeId,
        payoutId: null,
        amount: 77n,
        reason: 'charge_closed',
        createdAtMs: NOW.getTime(),
      },
    ]);
  });

  test('of a payout that came back is available', () => {
    const command = payoutReturn({ accountId, amount: 40 });
    const { writes, balances } = decideOne(command, { available: -50, forcedDebit: 50 });
    expect(balances).toMatchObject({ available: -10n, acquirer_clearing: -40n });
    expect(writes.journals).toMatchObject([{ resourceId: command.payoutId }]);
  });

  test('becomes available once, and its release is done with', () => {
    const credited = credit({ accountId, amount: 60, releaseAt: later(1) });
    const release = releasePending(credited);
    const { outcome, writes, balances } = decideOne(release, { pending: 60 });
    expect(outcome).toMatchObject({ code: 'booked' });
    expect(balances).toMatchObject({ pending: 0n, available: 60n });
    expect(writes.releasesDone).toEqual([credited.commandId]);
    expect(writes.events).toEqual([]);
  });

  test('that is not pending cannot become available', () => {
    const release = releasePending(credit({ accountId, amount: 60 }));
    const { outcome, writes } = decideOne(release, { pending: 59 });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'below_floor' });
    expect(writes.releasesDone).toEqual([]);
  });
});

describe('what the acquirer did', () => {
  test.each([
    ['out', -30n, 30n],
    ['in', 30n, -30n],
  ] as const)('against a payout, %s', (direction, inSuspense, inClearing) => {
    const command = payoutSuspense({ accountId, amount: 30, direction });
    const { writes, balances } = decideOne(command);
    expect(balances).toMatchObject({ suspense: inSuspense, acquirer_clearing: inClearing });
    const { payoutId } = command;
    expect(writes.suspenseItems).toMatchObject([{ amount: inSuspense, payoutId, chargeId: null }]);
  });

  test('charges its price to the platform, not to the merchant', () => {
    const { balances } = decideOne(tariff({ accountId, amount: 9 }), { available: 100 });
    expect(balances).toEqual(
      account({ available: 100, acquirer_tariffs: -9, acquirer_clearing: 9 }).balances,
    );
  });

  test('concerns the platform’s own account where nobody owns the money', () => {
    const command = suspense({ accountId: PLATFORM_ACCOUNT_ID, chargeId: null });
    expect(decideOne(command).balances).toMatchObject({ suspense: 1_000n });
  });
});

describe('a dispute', () => {
  test('blocks all of it, even below zero, and no payout profits from that (decision 137)', () => {
    const { after } = decideOne(block({ accountId, amount: 130 }), { available: 100 });
    expect(after).toMatchObject({ forcedDebit: 30n });
    expect(after?.balances).toMatchObject({ available: -30n, blocked: 130n });
    const { outcome } = decideOne(takeHold({ accountId, amount: 1 }), {
      available: -30,
      forcedDebit: 30,
    });
    expect(outcome).toMatchObject({ code: 'insufficient_balance' });
  });

  test('gives back what was blocked, and pays back first what was forced', () => {
    const standing = { available: -30, forcedDebit: 30, blocked: 130 };
    const { after } = decideOne(unblock({ accountId, amount: 130 }), standing);
    expect(after).toMatchObject({ forcedDebit: 0n });
    expect(after?.balances).toMatchObject({ available: 100n, blocked: 0n });
  });

  test('that is lost takes it out of the block', () => {
    const { balances } = decideOne(disputeReturn({ accountId, amount: 50 }), { blocked: 80 });
    expect(balances).toMatchObject({ blocked: 30n, acquirer_clearing: 50n });
  });

  test('that is lost after it was won takes it out of the balance, even below zero', () => {
    const command = disputeReturn({ accountId, amount: 50, from: 'available' });
    const { after } = decideOne(command, { available: 20 });
    expect(after).toMatchObject({ forcedDebit: 30n });
    expect(after?.balances).toMatchObject({ available: -30n, acquirer_clearing: 50n });
  });

  test.each([
    ['given back', unblock({ accountId, amount: 81 })],
    ['returned', disputeReturn({ accountId, amount: 81 })],
  ])('has no more %s than stands blocked', (_name, command) => {
    const { outcome, writes } = decideOne(command, { blocked: 80 });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'below_floor' });
    expect([writes.journals, writes.entries, writes.events]).toEqual([[], [], []]);
  });
});

describe('a command that was decided before', () => {
  const first = credit({ accountId, amount: 100 });
  const before = stateFor([first]);
  const state = stateAfter(before, decideBatch(before, [first]));

  test('is answered its first outcome and changes nothing', () => {
    const { outcomes, writes } = decideBatch(state, [first]);
    expect(outcomes).toEqual([
      { kind: 'decided', code: 'booked', version: 1n, repeated: true, hold: null },
    ]);
    expect([writes.journals, writes.entries, writes.events]).toEqual([[], [], []]);
    expect(writes.accounts.size).toBe(0);
  });

  test.each([
    ['amount', { ...first, amount: credit({ amount: 101 }).amount }],
    ['charge', { ...first, chargeId: null }],
    ['kind', { ...suspense({ accountId, amount: 100 }), commandId: first.commandId }],
  ])('with another %s is another command, and refused', (_name, command) => {
    const { outcomes, writes } = decideBatch(state, [command]);
    expect(outcomes).toMatchObject([{ kind: 'rejected', reason: 'other_content' }]);
    expect(outcomes[0]).toMatchObject({ message: expect.stringContaining(first.commandId) });
    expect(writes.journals).toEqual([]);
  });

  test('is refused to another owner', () => {
    const theirs = { ...first, accountId: newId<AccountId>() };
    const told = stateFor([theirs], { booked: state.booked });
    expect(decideBatch(told, [theirs]).outcomes).toMatchObject([{ reason: 'other_content' }]);
  });

  test('in the same batch is the same as in one before', () => {
    const { outcomes, writes } = decideBatch(before, [first, first, { ...first, chargeId: null }]);
    expect(outcomes).toMatchObject([
      { repeated: false },
      { repeated: true },
      { reason: 'other_content' },
    ]);
    expect(writes.journals).toHaveLength(1);
    expect(writes.events).toHaveLength(1);
  });
});

describe('times', () => {
  test('follow the clock of the database', () => {
    const { writes, after } = decideOne(credit({ accountId }));
    expect(writes.journals).toMatchObject([{ createdAtMs: NOW.getTime() }]);
    expect(after?.movedAtMs).toBe(NOW.getTime());
  });

  test('never fall within an owner, even when that clock steps back', () => {
    const movedAtMs = NOW.getTime() + 5_000;
    const { writes } = decideOne(credit({ accountId }), { movedAtMs, version: 4 });
    expect(writes.journals).toMatchObject([{ createdAtMs: movedAtMs, version: 5n }]);
    expect(writes.events).toMatchObject([{ occurredAtMs: movedAtMs }]);
  });
});

function asCents(parts: { available?: number; pending?: number }) {
  return { available: BigInt(parts.available ?? 0), pending: BigInt(parts.pending ?? 0) };
}
