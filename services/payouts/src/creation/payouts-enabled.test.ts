import { aCaller } from '@pixmesh/testkit/test-callers';
import { expect, test } from 'vitest';

import { arePayoutsEnabled } from './payouts-enabled.ts';

const { settings } = aCaller();

test('an approved, active account with the switch on may pay out, whatever its mode', () => {
  expect(arePayoutsEnabled(settings)).toBe(true);
  expect(arePayoutsEnabled({ ...settings, auto_payout_enabled: false })).toBe(true);
});

test.each([
  [{ payouts_enabled: false }],
  [{ status: 'inactive' as const }],
  [{ onboarding_status: 'pending' as const }],
  [{ onboarding_status: 'in_review' as const }],
  [{ onboarding_status: 'rejected' as const }],
])('%o forbids it', (change) => {
  expect(arePayoutsEnabled({ ...settings, ...change })).toBe(false);
});
