import { expect, test } from 'vitest';

import type { StoredStatus } from '#charge/charge-row.ts';
import { aChargeRow } from '#test/a-charge-row.ts';

import { decideCancellation } from './decide-cancellation.ts';

test.each<[StoredStatus, string]>([
  ['processing', 'refuse'],
  ['pending', 'act'],
  ['paid', 'refuse'],
  ['canceled', 'done'],
  ['failed', 'refuse'],
  ['refunded', 'refuse'],
  ['charged_back', 'refuse'],
  ['infraction', 'refuse'],
])('a %s charge: %s', (status, expected) => {
  expect(decideCancellation(aChargeRow({ status }))).toBe(expected);
});

test('one that is past its time is canceled like any pending one', () => {
  const expired = aChargeRow({ expiresAt: new Date(0) });
  expect(decideCancellation(expired)).toBe('act');
});

test('one that is being paid is not, although it is pending', () => {
  expect(decideCancellation(aChargeRow({ acceptedE2e: 'E1' }))).toBe('refuse');
});
