import { PayoutStatus } from '@pixmesh/contracts/http/payout';
import { onCommit } from '@pixmesh/postgres/on-commit';
import type { Queryable } from '@pixmesh/postgres/pool';
import { counter } from '@pixmesh/telemetry/metrics';

import type { PayoutRow, StoredStatus } from './payout-row.ts';

/** What of payouts an operator sees as a business: how many and how much, counted once it is committed. */

const LABELS = PayoutStatus.options.map((status) => ({ status }));

const created = counter('payouts_created_total', 'Payouts created');
const createdCents = counter('payouts_created_cents_total', 'Money of the payouts created');
const moved = counter('payouts_moved_total', 'Payouts that came to a status', LABELS);
const movedCents = counter('payouts_moved_cents_total', 'Money of those payouts', LABELS);

export function payoutCreated({ amount }: Pick<PayoutRow, 'amount'>): void {
  created.add(1);
  createdCents.add(Number(amount));
}

/** Counts those that have another status than before. */
export function payoutsMoved(
  db: Queryable,
  moves: readonly { from: PayoutRow; status: StoredStatus }[],
): void {
  const changed = moves.filter(({ from, status }) => from.status !== status);
  onCommit(db, () => {
    for (const { from, status } of changed) {
      moved.add(1, { status });
      movedCents.add(Number(from.amount), { status });
    }
  });
}
