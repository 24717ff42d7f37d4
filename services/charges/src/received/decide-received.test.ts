import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { aChargeRow } from '#test/a-charge-row.ts';

import { decideReceived } from './decide-received.ts';

const inTime = new Date('2026-11-21T12:30:00.000Z');
const late = new Date('2026-11-21T13:00:00.001Z');

function aPix(changes: Partial<ReceivedPix> = {}): ReceivedPix {
  return {
    endToEndId: 'E12345678202611211230abcdefghijk',
    txid: null,
    pixKey: null,
    amountCents: toCents(12_345),
    paidAt: inTime,
    returns: [],
    tariffCents: null,
    ...changes,
  };
}

test.each([
  ['the exact amount in time pays', {}, {}, { kind: 'credit' }],
  ['the exact amount after expiry pays by default', {}, { paidAt: late }, { kind: 'credit' }],
  [
    'after expiry it waits where the charge asks for that',
    { latePaymentPolicy: 'suspense' as const },
    { paidAt: late },
    { kind: 'suspense', reason: 'late' },
  ],
  [
    'settled in time it pays whatever the policy, however late it is noticed',
    { latePaymentPolicy: 'suspense' as const },
    { paidAt: new Date('2026-11-21T13:00:00.000Z') },
    { kind: 'credit' },
  ],
  [
    'one cent less never pays',
    {},
    { amountCents: toCents(12_344) },
    { kind: 'suspense', reason: 'amount_mismatch' },
  ],
  [
    'a second Pix never pays',
    { acceptedE2e: 'E12345678202611211200aaaaaaaaaaa' },
    {},
    { kind: 'suspense', reason: 'second_pix' },
  ],
  [
    'a canceled charge is not paid',
    { status: 'canceled' as const },
    {},
    { kind: 'suspense', reason: 'charge_closed' },
  ],
  [
    'a failed charge is not paid',
    { status: 'failed' as const },
    {},
    { kind: 'suspense', reason: 'charge_closed' },
  ],
])('%s', (_name, charge, pix, expected) => {
  expect(decideReceived(aChargeRow(charge), aPix(pix))).toEqual(expected);
});

describe('a charge whose acquirer says until when it can be paid', () => {
  const charge = aChargeRow({ latePaymentPolicy: 'suspense' });
  const second = (name: string) => new Date(`2026-11-21T${name}Z`);
  test.each([
    ['is paid until its own end', '12:00:09', 3_600, '13:00:09.000', 'credit'],
    ['is late behind its own end', '12:00:09', 3_600, '13:00:09.001', 'suspense'],
    ['is paid until ours where that is later', '11:55:00', 60, '13:00:00.000', 'credit'],
    ['is late behind ours where that is later', '11:55:00', 60, '13:00:00.001', 'suspense'],
    ['is paid a quarter of an hour longer at most', '12:00:00', 86_400, '13:15:00.000', 'credit'],
    ['is late behind that, whatever it says', '12:00:00', 86_400, '13:15:00.001', 'suspense'],
  ])('%s', (_name, created, expiresInSeconds, paid, kind) => {
    const times = { createdAt: second(created), expiresInSeconds };
    expect(decideReceived(charge, aPix({ paidAt: second(paid) }), times).kind).toBe(kind);
  });
});

test('only the exact amount ever pays a charge', () => {
  const amount = fc.bigInt({ min: 1n, max: 999_999_999_999n });
  fc.assert(
    fc.property(amount, amount, (asked, received) => {
      const charge = aChargeRow({ amount: toCents(asked) });
      const outcome = decideReceived(charge, aPix({ amountCents: toCents(received) }));
      expect(outcome.kind === 'credit').toBe(asked === received);
    }),
  );
});
