import { onCommit } from '@pixmesh/postgres/on-commit';
import type { Queryable } from '@pixmesh/postgres/pool';
import { counter } from '@pixmesh/telemetry/metrics';

import type { ChargeRow, StoredStatus } from './charge-row.ts';

/** What of charges an operator sees as a business: how many and how much, counted once it is committed. */

const STATUSES: readonly StoredStatus[] = ['pending', 'paid', 'canceled', 'failed', 'refunded'];
const LABELS = STATUSES.map((status) => ({ status }));

const created = counter('charges_created_total', 'Charges created');
const createdCents = counter('charges_created_cents_total', 'Money of the charges created');
const moved = counter('charges_moved_total', 'Charges that came to a status', LABELS);
const movedCents = counter('charges_moved_cents_total', 'Money of those charges', LABELS);

export function chargeCreated({ amount }: Pick<ChargeRow, 'amount'>): void {
  created.add(1);
  createdCents.add(Number(amount));
}

/** Counts those that have another status than before. */
export function chargesMoved(
  db: Queryable,
  moves: readonly { from: ChargeRow; status: StoredStatus }[],
): void {
  const changed = moves.filter(({ from, status }) => from.status !== status);
  onCommit(db, () => {
    for (const { from, status } of changed) {
      moved.add(1, { status });
      movedCents.add(Number(from.amount), { status });
    }
  });
}
