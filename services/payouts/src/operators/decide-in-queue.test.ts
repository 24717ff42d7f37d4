import type { PayoutStatus } from '@pixmesh/contracts/http/payout';
import { newId, type OperatorId } from '@pixmesh/kernel/ids';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { describe, expect, test } from 'vitest';

import { aPayoutRow } from '#test/a-payout-row.ts';

import { decideApproval, decideCancellation } from './decide-in-queue.ts';

const { settings } = aCaller();
const operator = newId<OperatorId>();
const other = newId<OperatorId>();
const OUT_OF_QUEUE: PayoutStatus[] = ['processing', 'completed', 'failed'];

describe('approval', () => {
  test('a payout of the API may be approved by any operator', () => {
    expect(decideApproval(aPayoutRow(), operator, settings)).toEqual({ kind: 'act' });
  });

  test('a payout of the dashboard is approved by another operator than its requester', () => {
    const row = aPayoutRow({ source: 'dashboard', requestedBy: other });
    expect(decideApproval(row, operator, settings)).toEqual({ kind: 'act' });
    expect(decideApproval(row, other, settings)).toEqual({
      kind: 'refuse',
      code: 'APPROVER_MUST_DIFFER',
    });
  });

  test('four eyes come before the switches of the account', () => {
    const row = aPayoutRow({ source: 'dashboard', requestedBy: other });
    const off = { ...settings, payouts_enabled: false };
    expect(decideApproval(row, other, off)).toMatchObject({ code: 'APPROVER_MUST_DIFFER' });
    expect(decideApproval(row, operator, off)).toMatchObject({ code: 'PAYOUTS_DISABLED' });
  });

  test.each(OUT_OF_QUEUE)('an approved payout that is %s by now is answered as it is', (status) => {
    const row = aPayoutRow({ status, approvedBy: other });
    const off = { ...settings, payouts_enabled: false };
    expect(decideApproval(row, operator, off)).toEqual({ kind: 'done' });
  });

  test.each<PayoutStatus>([...OUT_OF_QUEUE, 'canceled'])(
    'a payout that nobody approved and is %s is not in the queue',
    (status) => {
      const refused = { kind: 'refuse', code: 'PAYOUT_NOT_PENDING' };
      expect(decideApproval(aPayoutRow({ status }), operator, settings)).toEqual(refused);
    },
  );
});

describe('cancellation', () => {
  test('what waits in the queue is canceled, once', () => {
    expect(decideCancellation(aPayoutRow())).toEqual({ kind: 'act' });
    expect(decideCancellation(aPayoutRow({ status: 'canceled' }))).toEqual({ kind: 'done' });
  });

  test.each(OUT_OF_QUEUE)('a %s payout is never canceled', (status) => {
    expect(decideCancellation(aPayoutRow({ status }))).toEqual({
      kind: 'refuse',
      code: 'PAYOUT_NOT_PENDING',
    });
  });
});
