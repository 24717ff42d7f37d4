import { describe, expect, it } from 'vitest';

import { decidePay } from './decide-pay.ts';

const active = { txid: 'a', isExpired: false };
const expired = { txid: 'a', isExpired: true };

describe('a payment', () => {
  it.each([
    ['makes a Pix for a charge in time', active, null, false, 'new_pix'],
    ['makes a Pix in time when its time is given', active, null, true, 'new_pix'],
    ['is refused for an expired charge', expired, null, false, 'charge_expired'],
    ['of an expired charge counts when its time is given', expired, null, true, 'new_pix'],
    [
      'with a known end-to-end id only repeats its notice',
      active,
      { txid: 'a' },
      false,
      'repeated_notice',
    ],
    [
      'repeats the notice of an expired charge too',
      expired,
      { txid: 'a' },
      false,
      'repeated_notice',
    ],
    [
      'cannot take the end-to-end id of another charge',
      active,
      { txid: 'b' },
      true,
      'end_to_end_id_taken',
    ],
    ['needs a charge', null, null, true, 'charge_not_found'],
    [
      'needs a charge even where the end-to-end id is known',
      null,
      { txid: 'b' },
      true,
      'charge_not_found',
    ],
  ] as const)('%s', (_, charge, existing, paidAtGiven, decision) => {
    expect(decidePay({ charge, existing, paidAtGiven })).toBe(decision);
  });
});
