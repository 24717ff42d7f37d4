import { Payout } from '@pixmesh/contracts/http/payout';
import { OperatorPayout } from '@pixmesh/contracts/internal/operator-payouts';
import { expect, test } from 'vitest';

import { toOperatorPayout } from '#operators/operator-payout-resource.ts';
import { aPayoutRow } from '#test/a-payout-row.ts';

import { toPayoutResource } from './payout-resource.ts';

test('the resource is the one of the contract, and nothing of the row slips out', () => {
  const row = aPayoutRow({ webhookSealedSecret: 'sealed', requestedBy: aPayoutRow().requestedBy });
  const resource = toPayoutResource(row);
  expect(Object.keys(resource).sort()).toEqual(Object.keys(Payout.shape).sort());
  expect(Payout.parse(resource)).toEqual(resource);
  expect(JSON.stringify(resource)).not.toMatch(/sealed|ana@example/);
});

test('the key is echoed as sent', () => {
  expect(toPayoutResource(aPayoutRow()).recipient.pix_key).toBe('Ana@Example.com');
});

test.each(['pending', 'processing', 'failed', 'canceled'] as const)(
  'the end-to-end id of a %s payout is for operators only',
  (status) => {
    const failureReason = status === 'failed' ? 'AC03: no account' : null;
    const row = aPayoutRow({ status, failureReason, endToEndId: 'E1' });
    expect(toPayoutResource(row).end_to_end_id).toBeNull();
    expect(toOperatorPayout(row).end_to_end_id).toBe('E1');
  },
);

test('a completed payout shows its end-to-end id', () => {
  const row = aPayoutRow({ status: 'completed', endToEndId: 'E1' });
  expect(toPayoutResource(row).end_to_end_id).toBe('E1');
});

test('operators see the resource of their contract, with four eyes and the state of sending', () => {
  const at = new Date('2026-11-21T12:00:02.000Z');
  const row = aPayoutRow({ sendAt: at, lastCallAt: at, unansweredCalls: 2, ending: 'release' });
  const resource = toOperatorPayout(row);
  expect(OperatorPayout.parse(resource)).toEqual(resource);
  expect(resource.send).toEqual({
    send_at: '2026-11-21T12:00:02.000Z',
    unanswered_puts: 2,
    last_put_at: '2026-11-21T12:00:02.000Z',
    last_put_error: null,
    uncounted_refusal: null,
    ending: 'release',
  });
});
