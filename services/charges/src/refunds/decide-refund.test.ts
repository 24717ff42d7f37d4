import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { StoredStatus } from '#charge/charge-row.ts';
import { aChargeRow } from '#test/a-charge-row.ts';

import { decideRefund } from './decide-refund.ts';

const DAY_MS = 86_400_000;
const paidAt = new Date('2026-08-01T12:00:00.000Z');

function aPaid(changes: Parameters<typeof aChargeRow>[0] = {}) {
  return aChargeRow({
    status: 'paid',
    amount: toCents(2_000),
    acceptedE2e: 'E1',
    endToEndId: 'E1',
    paidAt,
    readAt: new Date(paidAt.getTime() + 1_000),
    ...changes,
  });
}

describe('which charge can be refunded', () => {
  test.each<StoredStatus>(['paid', 'infraction'])('%s can', (status) => {
    expect(decideRefund(aPaid({ status }), null, 0n)).toEqual({
      kind: 'accept',
      amount: 2_000n,
      endToEndId: 'E1',
    });
  });

  test.each<StoredStatus>([
    'processing',
    'pending',
    'canceled',
    'failed',
    'refunded',
    'charged_back',
  ])('%s cannot', (status) => {
    expect(decideRefund(aPaid({ status }), null, 0n)).toEqual({
      kind: 'refuse',
      code: 'CHARGE_NOT_REFUNDABLE',
    });
  });

  test('90 days after its payment it still can, a millisecond later it cannot', () => {
    const at = (ms: number) => aPaid({ readAt: new Date(paidAt.getTime() + ms) });
    expect(decideRefund(at(90 * DAY_MS), null, 0n).kind).toBe('accept');
    expect(decideRefund(at(90 * DAY_MS + 1), null, 0n)).toMatchObject({
      code: 'CHARGE_NOT_REFUNDABLE',
    });
  });
});

describe('how much', () => {
  test('an absent amount is all that is left', () => {
    expect(decideRefund(aPaid(), null, 1_999n)).toMatchObject({ kind: 'accept', amount: 1n });
  });

  test('nothing left refuses, with an amount and without', () => {
    for (const wanted of [null, toCents(1)]) {
      expect(decideRefund(aPaid(), wanted, 2_000n)).toEqual({
        kind: 'refuse',
        code: 'REFUND_EXCEEDS_CHARGE',
      });
    }
  });

  test('what is accepted never exceeds what is left, and is what was wanted', () => {
    fc.assert(
      fc.property(
        fc.option(fc.bigInt({ min: 1n, max: 3_000n })),
        fc.bigInt({ min: 0n, max: 2_500n }),
        (wanted, taken) => {
          const decision = decideRefund(aPaid(), wanted === null ? null : toCents(wanted), taken);
          const left = 2_000n - taken;
          const fits = left > 0n && (wanted ?? left) <= left;
          expect(decision.kind).toBe(fits ? 'accept' : 'refuse');
          if (decision.kind === 'accept') expect(decision.amount).toBe(wanted ?? left);
        },
      ),
    );
  });
});
