import { PayoutStatus } from '@pixmesh/contracts/http/payout';
import { counter } from '@pixmesh/telemetry/metrics';

import type { PayoutRow } from './payout-row.ts';

/** Metrics of payouts as a business: how many and how much, counted after the commit. */

const LABELS = PayoutStatus.options.map((status) => ({ status }));

const created = counter('payouts_created_total', 'Payouts created');
const createdCents = counter('payouts_created_cents_total', 'Money of the payouts created');
/** For `countMoves`. */
export const PAYOUTS_MOVED = {
  moved: counter('payouts_moved_total', 'Payouts that came to a status', LABELS),
  movedCents: counter('payouts_moved_cents_total', 'Money of those payouts', LABELS),
};

export function payoutCreated({ amount }: Pick<PayoutRow, 'amount'>): void {
  created.add(1);
  createdCents.add(Number(amount));
}
