import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import { NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';
import { describe, expect, test } from 'vitest';

import {
  compareHold,
  compareRefund,
  compareSettled,
  miscounted,
  missingHold,
} from './compare-refund.ts';
import type { ComparedRefund } from './refund-check.sql.ts';

const endedAt = new Date('2026-11-21T12:00:00.000Z');

function aRefund(changes: Partial<ComparedRefund> = {}): ComparedRefund {
  return {
    id: 'refund',
    returnId: 'refund',
    holdId: 'hold',
    endToEndId: 'E1',
    status: 'completed',
    amount: 500n,
    endedAt,
    wasSent: true,
    ...changes,
  };
}

function aReturn(changes: Partial<PixReturn> = {}): PixReturn {
  return {
    id: 'refund',
    returnId: 'D1',
    amountCents: toCents(500),
    status: 'returned',
    nature: 'ORIGINAL',
    reason: null,
    settledAt: endedAt,
    ...changes,
  };
}

describe('a refund and its return', () => {
  test.each([
    ['processing', 'processing'],
    ['completed', 'returned'],
    ['failed', 'failed'],
  ] as const)('%s and %s agree', (status, theirs) => {
    expect(compareRefund(aRefund({ status }), aReturn({ status: theirs }))).toEqual([]);
  });

  test.each([
    ['processing', 'returned', 'completed'],
    ['processing', 'failed', 'failed'],
    ['completed', 'failed', 'failed'],
    ['completed', 'processing', 'processing'],
    ['failed', 'returned', 'completed'],
    ['failed', 'processing', 'processing'],
  ] as const)('%s and %s are a state', (status, theirs, expected) => {
    expect(compareRefund(aRefund({ status }), aReturn({ status: theirs }))).toEqual([
      {
        kind: 'state',
        id: 'refund',
        expected,
        found: status,
        amountCents: 500n,
        changedAt: endedAt,
      },
    ]);
  });

  test('only a completed one has to be there', () => {
    expect(compareRefund(aRefund(), null)).toMatchObject([{ kind: 'missing_left', id: 'refund' }]);
    expect(compareRefund(aRefund({ status: 'processing' }), null)).toEqual([]);
    expect(compareRefund(aRefund({ status: 'failed' }), null)).toEqual([]);
  });

  test('another amount is shown before the state', () => {
    const theirs = aReturn({ amountCents: toCents(400), status: 'failed' });
    expect(compareRefund(aRefund(), theirs)).toEqual([
      {
        kind: 'amount',
        id: 'refund',
        expected: '400',
        found: '500',
        amountCents: 100n,
        changedAt: NEVER_IN_FLIGHT,
      },
    ]);
  });
});

describe('a refund and its hold', () => {
  const hold = {
    hold_id: 'hold',
    account_id: 'account',
    resource_id: 'refund',
    kind: 'refund',
    amount: toCents(500),
    fee: toCents(0n),
    state: 'open',
    created_at: endedAt.toISOString(),
  } as const;

  test('an open hold is for a refund under way, of its amount', () => {
    expect(compareHold(hold, aRefund({ status: 'processing' }))).toEqual([]);
    expect(compareHold(hold, aRefund({ status: 'processing', amount: 400n }))).toMatchObject([
      { kind: 'amount', amountCents: 100n },
    ]);
    expect(compareHold(hold, null)).toMatchObject([{ kind: 'missing_right', id: 'hold' }]);
    for (const status of ['intent', 'completed', 'failed'] as const) {
      expect(compareHold(hold, aRefund({ status }))).toMatchObject([
        { kind: 'state', id: 'refund', found: status },
      ]);
    }
    expect(missingHold(aRefund({ status: 'processing' }))).toMatchObject({ kind: 'missing_left' });
  });

  test('a completed refund has settled it, in full', () => {
    const journal = {
      command_id: 'c',
      account_id: 'a',
      kind: 'settle_hold' as const,
      resource_id: 'refund',
      amount: 500n,
      created_at: endedAt.toISOString(),
    };
    expect(compareSettled(aRefund(), journal)).toEqual([]);
    expect(compareSettled(aRefund({ status: 'failed' }), null)).toEqual([]);
    expect(compareSettled(aRefund(), null)).toMatchObject([{ kind: 'unbooked', id: 'refund' }]);
    expect(compareSettled(aRefund(), { ...journal, amount: 499n })).toMatchObject([
      { kind: 'amount', amountCents: -1n },
    ]);
  });
});

test('a count that is not the sum of what went back is shown with the difference', () => {
  const charge = { id: 'charge', counted: 400n, recorded: 500n, seenAt: endedAt };
  expect(miscounted(charge)).toMatchObject({ kind: 'sum', id: 'charge', amountCents: -100n });
});
