import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { describe, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import { NOW, stateFor } from '#test/batch-states.ts';
import { suspenseResolve, receivedPixSuspend } from '#test/ledger-commands.ts';

import { decideBatch } from './decide-batch.ts';

const accountId = newId<AccountId>();
const item = receivedPixSuspend({ accountId, amount: 77 });
const { commandId: itemId } = item;

/** What becomes of commands where so much of the item is left, beside 5 that are available. */
function decide(left: bigint, commands: readonly LedgerCommand[]) {
  const suspenseItems = new Map([[itemId, { accountId, amount: left, isResolved: false }]]);
  const accounts = { [accountId]: { available: 5, suspense: Number(left) } };
  const { outcomes, writes } = decideBatch(
    stateFor(commands, { accounts, suspenseItems }),
    commands,
  );
  return { outcomes, writes, balances: writes.accounts.get(accountId)?.balances };
}

function part(amount: bigint): LedgerCommand {
  return suspenseResolve(item, { action: 'return', amount: toCents(amount), commandId: newId() });
}

describe('money in suspense that was sent back in part', () => {
  test('stays open for what is left', () => {
    const { outcomes, balances, writes } = decide(77n, [part(30n)]);
    expect(outcomes).toMatchObject([{ code: 'booked' }]);
    expect(balances).toMatchObject({ available: 5n, suspense: 47n, acquirer_clearing: 30n });
    expect([...writes.itemsChanged]).toEqual([[itemId, { amount: 47n, resolvedAtMs: null }]]);
    expect(writes.events).toMatchObject([{ moved: 30n }]);
  });

  test('is accepted for exactly that, in the same batch too', () => {
    const rest = suspenseResolve(item, { amount: toCents(40n) });
    const { outcomes, balances, writes } = decide(77n, [part(30n), part(7n), rest]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['decided', 'decided', 'decided']);
    const ended = { amount: 40n, resolvedAtMs: NOW.getTime() };
    expect([...writes.itemsChanged]).toEqual([[itemId, ended]]);
    expect(balances).toMatchObject({ available: 45n, suspense: 0n, acquirer_clearing: 37n });
  });

  test('ends with its last part, in the batch that books it too', () => {
    const commands = [item, part(30n), part(47n), part(1n)];
    const { outcomes, writes } = decideBatch(stateFor(commands), commands);
    expect(outcomes.slice(0, 3).map(({ kind }) => kind)).toEqual(['decided', 'decided', 'decided']);
    expect(outcomes[3]).toMatchObject({ reason: 'item_resolved' });
    expect(writes.suspenseItems).toMatchObject([{ resolvedAtMs: NOW.getTime() }]);
  });

  test.each([
    ['accepted as if it were whole', suspenseResolve(item)],
    ['accepted in part', suspenseResolve(item, { amount: toCents(46n) })],
    ['sent back for more than is left', part(48n)],
  ])('is not %s', (_name, command) => {
    const { outcomes, writes } = decide(47n, [command]);
    expect(outcomes).toMatchObject([{ kind: 'rejected', reason: 'unknown_item' }]);
    expect(writes.itemsChanged.size).toBe(0);
  });
});

test('money that left against what a payout was told has no part that could be sent back', () => {
  const { outcomes } = decide(-40n, [part(10n)]);
  expect(outcomes).toMatchObject([{ kind: 'rejected', reason: 'unknown_item' }]);
});
