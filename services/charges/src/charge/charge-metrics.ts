import { ChargeStatus } from '@pixmesh/contracts/http/charge';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

import type { ChargeRow } from './charge-row.ts';

/** Metrics of charges as a business: how many and how much, counted after the commit. */

/** A charge begins as `processing`, and `expired` is never stored: none moves to either. */
const MOVED_TO = ChargeStatus.exclude(['processing', 'expired']);
const LABELS = MOVED_TO.options.map((status) => ({ status }));

const created = counter('charges_created_total', 'Charges created');
const createdCents = counter('charges_created_cents_total', 'Money of the charges created');
/** For `countMoves`. */
export const CHARGES_MOVED = {
  moved: counter('charges_moved_total', 'Charges that came to a status', LABELS),
  movedCents: counter('charges_moved_cents_total', 'Money of those charges', LABELS),
};

export function chargeCreated({ amount }: Pick<ChargeRow, 'amount'>): void {
  created.add(1);
  createdCents.add(Number(amount));
}

/** A gauge that is read at each scrape; age alone never ends a charge in `processing` (decision 63). */
export function observeIssuing(oldestSeconds: () => Promise<number>): void {
  observedGauge(
    'charges_processing_oldest_age_seconds',
    'Age of the oldest charge whose issuing has no end yet',
    async () => [{ value: await oldestSeconds() }],
  );
}

/** A gauge that is read at each scrape: routine checks that wait for longer and longer are more than can be made. */
export function observeDueChecks(oldestSeconds: () => Promise<number>): void {
  observedGauge(
    'charges_due_check_oldest_age_seconds',
    'For how long the routine check that waits longest has been due',
    async () => [{ value: await oldestSeconds() }],
  );
}
