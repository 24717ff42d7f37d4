import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { AppError } from '@pixmesh/kernel/app-error';
import type { ChargeId } from '@pixmesh/kernel/ids';
import { decideAnew } from '@pixmesh/postgres/decide-anew';
import type { z } from 'zod';

import { announceMove, type ChargeMoves } from '#charge/move-charges.sql.ts';
import { failpoint } from '#failpoints.ts';

import type { CreditedCharges } from './credited-charges.sql.ts';

/** What of the ledger event matters here. */
type Credit = Pick<
  z.output<typeof ReceivedPixCredited.schema>['data'],
  'charge_id' | 'end_to_end_id'
>;

export type MarkPaidDeps = {
  creditedCharges: CreditedCharges;
  moves: ChargeMoves;
  receiver: Receiver;
  wakeOutbox(): void;
};

/**
 * `pending` → `paid`, and `charge.pix.paid`, once the ledger has posted the credit: a receiver of that event finds the
 * money in the balance, `available` or `pending` until its release (decision 208). Any other state means that this
 * credit was applied before.
 */
export async function markPaid(deps: MarkPaidDeps, { data }: { data: Credit }): Promise<void> {
  const { charge_id: chargeId, end_to_end_id: endToEndId } = data;
  if (chargeId === null) return;
  await failpoint('charges.paid.before-ledger-event');
  await decideAnew('the charge', async () => {
    const credited = await deps.creditedCharges.submit({
      chargeId: chargeId as ChargeId,
      endToEndId,
    });
    if (credited === null) {
      throw new AppError('MESSAGE_INVALID', { message: 'credit of a Pix that no charge accepted' });
    }
    const { charge, paidAt } = credited;
    if (charge.status !== 'pending') return 'done';
    const change = {
      from: charge,
      status: 'paid',
      cause: 'pix_credited',
      detail: endToEndId,
      paidAt,
      endToEndId,
      // A status check may wait for this: returns of a Pix are booked once it is credited.
      checkInMs: 'kept',
    } as const;
    const moved = await announceMove(deps, change, ['charge.pix.paid']);
    return moved === null ? 'moved' : 'done';
  });
}
