import { newId } from '@pixmesh/kernel/ids';
import type { AccountId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import { account, NOW, stateAfter, stateFor } from '#test/batch-states.ts';
import {
  disputeBlock,
  receivedPixCredit,
  suspenseCredit,
  disputeReturn,
  payoutReturnCredit,
  payoutSuspend,
  receivedPixReturn,
  pendingRelease,
  suspenseResolve,
  receivedPixSuspend,
  holdTake,
  acquirerTariffBook,
  disputeUnblock,
} from '#test/ledger-commands.ts';

import type { BatchState, BatchWrites } from './batch-state.ts';
import { decideBatch } from './decide-batch.ts';
import { type PixDebits, untouchedPix } from './pix-debits.ts';

const accountId = newId<AccountId>();
const later = (ms: number) => new Date(NOW.getTime() + ms);

function decideOne(
  command: LedgerCommand,
  standing: Parameters<typeof account>[0] = {},
  given: {
    pix?: PixDebits;
    suspenseItems?: BatchState['suspenseItems'];
    /** Journals of a batch before. */
    booked?: BatchWrites;
  } = {},
) {
  const { pix, suspenseItems = new Map(), booked } = given;
  const before = stateFor([command], {
    accounts: { [command.accountId]: standing },
    pix: pix ? [pix] : [],
    suspenseItems,
  });
  const state = booked ? stateAfter(before, { outcomes: [], writes: booked }) : before;
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
    const command = receivedPixCredit({ accountId, amount: 250, releaseAt });
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
    const command = receivedPixSuspend({ accountId, amount: 77, reason: 'charge_closed' });
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
        resolvedAtMs: null,
      },
    ]);
  });

  test('of a payout that came back is available', () => {
    const command = payoutReturnCredit({ accountId, amount: 40 });
    const { writes, balances } = decideOne(command, { available: -50, forcedDebit: 50 });
    expect(balances).toMatchObject({ available: -10n, acquirer_clearing: -40n });
    expect(writes.journals).toMatchObject([{ resourceId: command.payoutId }]);
  });

  test('becomes available once, and its release is done with', () => {
    const credited = receivedPixCredit({ accountId, amount: 60, releaseAt: later(1) });
    const release = pendingRelease(credited);
    const { outcome, writes, balances } = decideOne(release, { pending: 60 });
    expect(outcome).toMatchObject({ code: 'booked' });
    expect(balances).toMatchObject({ pending: 0n, available: 60n });
    expect(writes.releasesDone).toEqual([credited.commandId]);
    expect(writes.events).toEqual([]);
  });

  test('that is not pending cannot become available', () => {
    const release = pendingRelease(receivedPixCredit({ accountId, amount: 60 }));
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
    const command = payoutSuspend({ accountId, amount: 30, direction });
    const { writes, balances } = decideOne(command);
    expect(balances).toMatchObject({ suspense: inSuspense, acquirer_clearing: inClearing });
    const { payoutId } = command;
    expect(writes.suspenseItems).toMatchObject([{ amount: inSuspense, payoutId, chargeId: null }]);
  });

  test('charges its price to the platform, not to the merchant', () => {
    const { balances } = decideOne(acquirerTariffBook({ accountId, amount: 9 }), {
      available: 100,
    });
    expect(balances).toEqual(
      account({ available: 100, acquirer_tariffs: -9, acquirer_clearing: 9 }).balances,
    );
  });

  test('concerns the platform’s own account where nobody owns the money', () => {
    const command = receivedPixSuspend({ accountId: PLATFORM_ACCOUNT_ID, chargeId: null });
    expect(decideOne(command).balances).toMatchObject({ suspense: 1_000n });
  });
});

describe('a dispute', () => {
  const endToEndId = 'E12345678202611211200dispute0001';
  const of = { accountId, endToEndId };
  const received = untouchedPix(accountId, endToEndId, 130n);

  test('blocks all of it, even below zero, and no payout profits from that (decision 137)', () => {
    const { after, writes } = decideOne(
      disputeBlock({ ...of, amount: 130 }),
      { available: 100 },
      { pix: received },
    );
    expect(after).toMatchObject({ forcedDebit: 30n });
    expect(after?.balances).toMatchObject({ available: -30n, blocked: 130n });
    expect(writes.events).toMatchObject([{ code: 'booked', moved: 130n }]);
    const { outcome } = decideOne(holdTake({ accountId, amount: 1 }), {
      available: -30,
      forcedDebit: 30,
    });
    expect(outcome).toMatchObject({ code: 'insufficient_balance' });
  });

  test('credits what was blocked, and pays the forced debit first', () => {
    const standing = { available: -30, forcedDebit: 30, blocked: 130 };
    const pix = { ...received, blocked: 130n };
    const { after } = decideOne(disputeUnblock({ ...of, amount: 130 }), standing, { pix });
    expect(after).toMatchObject({ forcedDebit: 0n });
    expect(after?.balances).toMatchObject({ available: 100n, blocked: 0n });
  });

  test('that is lost takes it out of the block', () => {
    const pix = { ...received, blocked: 80n };
    const command = disputeReturn({ ...of, amount: 50 });
    const { balances, writes } = decideOne(command, { blocked: 80 }, { pix });
    expect(balances).toMatchObject({ blocked: 30n, acquirer_clearing: 50n, available: 0n });
    expect(writes.entries).toHaveLength(2);
  });

  test('that returns more than is blocked takes the rest out of the balance, even below zero', () => {
    const pix = { ...received, blocked: 20n };
    const standing = { blocked: 30, available: 10 };
    for (const command of [
      disputeReturn({ ...of, amount: 50 }),
      receivedPixReturn({ ...of, amount: 50 }),
    ]) {
      const { after, writes } = decideOne(command, standing, { pix });
      expect(after).toMatchObject({ forcedDebit: 20n });
      expect(after?.balances).toMatchObject({
        blocked: 10n,
        available: -20n,
        acquirer_clearing: 50n,
      });
      expect(writes.events).toMatchObject([{ moved: 50n }]);
    }
  });

  test('that is lost after it was won takes it out of the balance, even below zero', () => {
    const command = disputeReturn({ ...of, amount: 50, from: 'available' });
    const { after } = decideOne(command, { available: 20 }, { pix: received });
    expect(after).toMatchObject({ forcedDebit: 30n });
    expect(after?.balances).toMatchObject({ available: -30n, acquirer_clearing: 50n });
  });

  test.each([
    ['block', disputeBlock({ ...of, amount: 50 })],
    ['unblock', disputeUnblock({ ...of, amount: 50 })],
  ])('that finds nothing to %s is noted and told', (_name, command) => {
    const pix = { ...received, refunded: 130n };
    const { outcome, writes } = decideOne(command, { available: 500 }, { pix });
    expect(outcome).toMatchObject({ code: 'noted', version: null });
    expect(writes.entries).toEqual([]);
    expect(writes.events).toMatchObject([{ code: 'noted', moved: 0n }]);
    expect(decideOne(command, {}, { pix, booked: writes }).outcome).toMatchObject({
      code: 'noted',
      repeated: true,
    });
  });

  test.each([
    ['under the MED', disputeReturn({ ...of, amount: 51 })],
    ['by somebody else', receivedPixReturn({ ...of, amount: 51 })],
    ['after a win', disputeReturn({ ...of, amount: 51, from: 'available' })],
  ])('has no more returned than was received, %s', (_name, command) => {
    const pix = { ...received, refunded: 30n, returned: 50n };
    const { outcome, writes } = decideOne(command, { available: 500 }, { pix });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'exceeds_received' });
    expect([writes.journals, writes.entries, writes.events]).toEqual([[], [], []]);
    expect(writes.pix.size).toBe(0);
  });

  test.each([disputeBlock(of), disputeUnblock(of), disputeReturn(of), receivedPixReturn(of)])(
    '$kind of a Pix that is not credited to the account is wrong in itself',
    (command) => {
      const { outcome, writes } = decideOne(command, { available: 500, blocked: 500 });
      expect(outcome).toMatchObject({ kind: 'rejected', reason: 'unknown_pix' });
      expect([writes.journals, writes.entries, writes.events]).toEqual([[], [], []]);
    },
  );

  test('meets the credit of its own batch, and nobody else’s', () => {
    const credited = receivedPixCredit({ ...of, amount: 130 });
    const elsewhere = newId<AccountId>();
    const commands = [
      credited,
      disputeBlock({ ...of, amount: 130 }),
      disputeBlock({ ...of, accountId: elsewhere, amount: 130 }),
    ];
    const { outcomes } = decideBatch(stateFor(commands), commands);
    expect(outcomes).toMatchObject([
      { code: 'booked' },
      { code: 'booked' },
      { reason: 'unknown_pix' },
    ]);
  });
});

describe('money in suspense', () => {
  const item = receivedPixSuspend({ accountId, amount: 77 });
  const { commandId: itemId } = item;
  const suspenseItems = new Map([[itemId, { accountId, amount: 77n, isResolved: false }]]);
  const standing = { available: 5, suspense: 77 };

  test.each([
    ['accept', { available: 82n, suspense: 0n, acquirer_clearing: 0n }],
    ['hand_over', { available: 5n, suspense: 0n, acquirer_clearing: 77n }],
    ['return', { available: 5n, suspense: 0n, acquirer_clearing: 77n }],
  ] as const)('is resolved once: %s', (action, parts) => {
    const command = suspenseResolve(item, { action });
    const { outcome, balances, writes } = decideOne(command, standing, { suspenseItems });
    expect(outcome).toMatchObject({ code: 'booked' });
    expect(balances).toMatchObject(parts);
    const ended = { amount: 77n, resolvedAtMs: NOW.getTime() };
    expect([...writes.itemsChanged]).toEqual([[itemId, ended]]);
    expect(writes.events).toHaveLength(1);
  });

  test('is resolved in the batch that books it', () => {
    const commands = [item, suspenseResolve(item)];
    const { outcomes, writes } = decideBatch(stateFor(commands), commands);
    expect(outcomes).toMatchObject([{ code: 'booked' }, { code: 'booked' }]);
    expect(writes.suspenseItems).toMatchObject([{ resolvedAtMs: NOW.getTime() }]);
    expect(writes.itemsChanged.size).toBe(0);
  });

  test('is not resolved a second time, in this batch or in one before', () => {
    const second = { ...suspenseResolve(item, { action: 'return' }), commandId: newId() };
    const commands = [suspenseResolve(item), second];
    const { outcomes } = decideBatch(
      stateFor(commands, { accounts: { [accountId]: standing }, suspenseItems }),
      commands,
    );
    expect(outcomes).toMatchObject([{ code: 'booked' }, { reason: 'item_resolved' }]);
    const ended = new Map([[itemId, { accountId, amount: 77n, isResolved: true }]]);
    const { outcome, writes } = decideOne(second, standing, { suspenseItems: ended });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'item_resolved' });
    expect([writes.journals, writes.entries, writes.events]).toEqual([[], [], []]);
  });

  test.each([
    ['unknown', suspenseResolve({ ...item, commandId: newId() })],
    [
      'of another amount',
      suspenseResolve(receivedPixSuspend({ accountId, amount: 78 }), { itemId }),
    ],
    ['of another owner', suspenseResolve(item, { accountId: newId<AccountId>() })],
  ])('that is %s cannot be resolved', (_name, command) => {
    const { outcome } = decideOne(command, standing, { suspenseItems });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'unknown_item' });
  });

  test('that nobody owned becomes available to whom it belongs', () => {
    const owner = newId<AccountId>();
    const { balances, writes } = decideOne(suspenseCredit(item, owner));
    expect(balances).toMatchObject({ available: 77n, acquirer_clearing: -77n, suspense: 0n });
    expect(writes.events).toMatchObject([{ code: 'booked', balances: { available: 77n } }]);
  });
});

describe('a command that was decided before', () => {
  const first = receivedPixCredit({ accountId, amount: 100 });
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
    ['amount', { ...first, amount: receivedPixCredit({ amount: 101 }).amount }],
    ['charge', { ...first, chargeId: null }],
    ['kind', { ...receivedPixSuspend({ accountId, amount: 100 }), commandId: first.commandId }],
  ])('with another %s is another command, and refused', (_name, command) => {
    const { outcomes, writes } = decideBatch(state, [command]);
    expect(outcomes).toMatchObject([{ kind: 'rejected', reason: 'other_content' }]);
    expect(outcomes[0]).toMatchObject({ message: expect.stringContaining(first.commandId) });
    expect(writes.journals).toEqual([]);
  });

  test('is refused to another owner', () => {
    const theirs = { ...first, accountId: newId<AccountId>() };
    const next = stateFor([theirs], { decided: state.decided });
    expect(decideBatch(next, [theirs]).outcomes).toMatchObject([{ reason: 'other_content' }]);
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
    const { writes, after } = decideOne(receivedPixCredit({ accountId }));
    expect(writes.journals).toMatchObject([{ createdAtMs: NOW.getTime() }]);
    expect(after?.movedAtMs).toBe(NOW.getTime());
  });

  test('never fall within an owner, even when that clock steps back', () => {
    const movedAtMs = NOW.getTime() + 5_000;
    const { writes } = decideOne(receivedPixCredit({ accountId }), { movedAtMs, version: 4 });
    expect(writes.journals).toMatchObject([{ createdAtMs: movedAtMs, version: 5n }]);
    expect(writes.events).toMatchObject([{ occurredAtMs: movedAtMs }]);
  });
});

function asCents(parts: { available?: number; pending?: number }) {
  return { available: BigInt(parts.available ?? 0), pending: BigInt(parts.pending ?? 0) };
}
