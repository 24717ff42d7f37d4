import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

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
