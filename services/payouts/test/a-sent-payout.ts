import type { VisiblePayout } from '#payouts/payout-row.ts';

import { aPayoutRow } from './a-payout-row.ts';

/** A payout in `processing`: sent once and not answered yet. */
export function aSentPayout(changes: Partial<VisiblePayout> = {}): VisiblePayout {
  return aPayoutRow({
    status: 'processing',
    isAutomatic: true,
    unansweredCalls: 1,
    lastCallAt: new Date('2026-11-21T12:00:00.000Z'),
    ...changes,
  });
}
