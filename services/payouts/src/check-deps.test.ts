import { readConfig } from '@pixmesh/service/config';
import { expect, test } from 'vitest';

import { decideCheck } from '#status-check/decide-check.ts';
import { aSentPayout } from '#test/a-sent-payout.ts';
import { REQUIRED_SETTINGS } from '#test/required-settings.ts';

import { orderLimits } from './check-deps.ts';
import { PayoutsConfig } from './config.ts';

test('nothing is sent again before the counted call has begun at the latest and ended', () => {
  const limits = orderLimits(readConfig(PayoutsConfig, REQUIRED_SETTINGS));
  const countedAt = new Date('2026-11-21T12:00:00.000Z');
  const stepAfter = (milliseconds: number) => {
    const readAt = new Date(countedAt.getTime() + milliseconds);
    const payout = aSentPayout({ lastCallAt: countedAt, readAt });
    return decideCheck(payout, { kind: 'not_found' }, limits).kind;
  };
  // A call may begin 2 s after its count, and the acquirer is waited for 4 s.
  expect([4_000, 5_999, 6_000].map(stepAfter)).toEqual([
    'check_later',
    'check_later',
    'send_again',
  ]);
});
