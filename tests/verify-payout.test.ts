import { expect, test } from 'vitest';

import { type PayoutRecords, verifyPayout } from './e2e/verify-payout.ts';

/** The checker of the fault tests is tested by planting each fault that it exists for. */
const COMPLETED = {
  id: 'p1',
  status: 'completed',
  amount: 1_000,
  fee: 50,
  end_to_end_id: 'E1',
};
const OK = { outcome: 'ok', isReplayed: false, body: COMPLETED } as const;
const HOLD = aJournal(['available', 'debit', 1_050], ['held', 'credit', 1_050]);
const SETTLE = aJournal(
  ['held', 'debit', 1_050],
  ['acquirer_clearing', 'credit', 1_000],
  ['fees', 'credit', 50],
);
const RELEASE = aJournal(['held', 'debit', 1_050], ['available', 'credit', 1_050]);
const SENT = { kind: 'sent', amount: 1_000, end_to_end_id: 'E1' };
const SETTLED = { kind: 'settled', amount: 1_000, end_to_end_id: 'E1' };
const DELIVERIES = [
  { event: 'payment.pix.created', deliveryId: 'd1' },
  { event: 'payment.pix.created', deliveryId: 'd1' },
  { event: 'payment.pix.processing', deliveryId: 'd2' },
];

function aDossier(changes: Partial<PayoutRecords> = {}): PayoutRecords {
  return {
    id: 'p1',
    calls: [OK],
    payout: COMPLETED,
    sends: [SENT, SETTLED],
    journals: [SETTLE, HOLD],
    deliveries: DELIVERIES,
    ...changes,
  };
}

function aJournal(...entries: [string, string, number][]): object {
  return {
    entries: entries.map(([account, direction, amount]) => ({ account, direction, amount })),
  };
}

test('a payout that ended as announced has no violation', () => {
  expect(verifyPayout(aDossier())).toEqual([]);
  const failed = { ...COMPLETED, status: 'failed', end_to_end_id: null };
  const calls = [{ ...OK, body: failed }];
  const undone = { calls, payout: failed, sends: [], journals: [HOLD, RELEASE], deliveries: null };
  expect(verifyPayout(aDossier(undone))).toEqual([]);
});

test('a refused or unknown call without a row has no violation', () => {
  const nothing = { payout: null, sends: [], journals: [], deliveries: [] };
  for (const outcome of ['refused', 'unknown'] as const) {
    expect(verifyPayout(aDossier({ ...nothing, calls: [{ ...OK, outcome }] }))).toEqual([]);
  }
});

const FAILED = { ...COMPLETED, status: 'failed' };
const PLANTED: [string, string, Partial<PayoutRecords>][] = [
  ['I3', 'a 201 that was lost', { payout: null, sends: [], journals: [], deliveries: [] }],
  ['I3', 'another amount than answered', { calls: [{ ...OK, body: { ...COMPLETED, amount: 9 } }] }],
  ['I3', 'a refused payout that exists', { calls: [{ ...OK, outcome: 'refused' }] }],
  ['I4', 'two answers that both claim the creation', { calls: [OK, OK] }],
  ['I4', 'an answer under another id', { calls: [{ ...OK, body: { ...COMPLETED, id: 'p2' } }] }],
  ['I5', 'a second order', { sends: [SENT, SENT, SETTLED] }],
  ['I5', 'a second settlement', { sends: [SENT, SETTLED, SETTLED] }],
  ['I5', 'a settlement of a failed payout', { payout: FAILED, journals: [HOLD, RELEASE] }],
  ['I5', 'no settlement of a completed one', { sends: [SENT] }],
  ['I5', 'another amount settled', { sends: [SENT, { ...SETTLED, amount: 999 }] }],
  ['I7', 'two holds', { journals: [HOLD, HOLD, SETTLE] }],
  ['I7', 'a hold without an end', { journals: [HOLD] }],
  ['I7', 'settled and released', { journals: [HOLD, SETTLE, RELEASE] }],
  ['I7', 'a hold for no payout', { calls: [], payout: null, sends: [], journals: [HOLD] }],
  ['I8', 'money back for a completed payout', { journals: [HOLD, RELEASE] }],
  ['I8', 'no money back for a failed one', { payout: FAILED, sends: [SENT] }],
  [
    'I11',
    'one event under two ids',
    { deliveries: [...DELIVERIES, { event: 'payment.pix.processing', deliveryId: 'd3' }] },
  ],
  ['I11', 'an event that never came', { deliveries: DELIVERIES.slice(0, 2) }],
  [
    'I12',
    'an event that is not dispatched',
    { deliveries: [...DELIVERIES, { event: 'payment.pix.completed', deliveryId: 'd4' }] },
  ],
  ['I16', 'a payout that rests on its way', { payout: { ...COMPLETED, status: 'processing' } }],
];

test.each(PLANTED)('%s: finds %s', (invariant, _what, planted) => {
  const found = verifyPayout(aDossier(planted)).map((line) => line.split(' ')[0]);
  expect(found).toContain(invariant);
});
