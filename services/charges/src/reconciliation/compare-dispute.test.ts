import { toCents } from '@pixmesh/kernel/money';
import { expect, test } from 'vitest';

import { anInfraction } from '#test/a-dispute.ts';

import type { ComparedDispute } from './dispute-check.sql.ts';
import { compareDispute } from './compare-dispute.ts';

const THEIRS = anInfraction();

function ours(changes: Partial<ComparedDispute> = {}): ComparedDispute {
  return {
    id: 'dispute-1',
    infractionId: THEIRS.id,
    amount: THEIRS.amountCents,
    status: 'open',
    block: 'standing',
    isUntouched: true,
    chargeStatus: 'infraction',
    changedAt: new Date('2026-11-21T12:00:00.000Z'),
    ...changes,
  };
}

test.each([
  ['open', 'open'],
  ['open', 'under_review'],
  ['under_review', 'under_review'],
  ['accepted', 'lost'],
  ['rejected', 'won'],
  ['canceled', 'won'],
] as const)('%s there and %s here are the same', (status, own) => {
  expect(compareDispute({ ...THEIRS, status }, ours({ status: own }))).toEqual([]);
});

test.each([
  ['open', 'won'],
  ['open', 'lost'],
  ['under_review', 'open'],
  ['accepted', 'won'],
  ['rejected', 'open'],
  ['canceled', 'lost'],
] as const)('%s there and %s here are a break of state', (status, own) => {
  expect(compareDispute({ ...THEIRS, status }, ours({ status: own }))).toMatchObject([
    { kind: 'state', id: THEIRS.id, expected: status, found: own },
  ]);
});

test('a dispute that a full refund has closed is no break, whatever the acquirer decides', () => {
  expect(compareDispute(THEIRS, ours({ status: 'lost', chargeStatus: 'refunded' }))).toEqual([]);
});

test('a side that lacks it, and another amount, are shown with the money in question', () => {
  const amountCents = THEIRS.amountCents;
  expect(compareDispute(THEIRS, null)).toMatchObject([{ kind: 'missing_right', amountCents }]);
  expect(compareDispute(null, ours())).toMatchObject([{ kind: 'missing_left', amountCents }]);
  const less = ours({ amount: toCents(12_000) });
  expect(compareDispute(THEIRS, less)).toMatchObject([{ kind: 'amount', amountCents: -345n }]);
  expect(compareDispute(null, null)).toEqual([]);
});
