import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import type { Queryable } from '@pixmesh/postgres/pool';

import { chargeEvents } from './charge-events.ts';
import type { ChargeRow } from './charge-row.ts';
import { moveCharge, type Transition } from './charges.sql.ts';

/**
 * Moves a charge and announces it with the state right after the move, in one statement. Answers the charge as it
 * stands then; null where it has moved since it was read, and nothing was written.
 */
export async function announceMove(
  deps: { db: Queryable; receiver: Receiver },
  change: Omit<Transition, 'events'>,
  types: readonly ChargeEventType[],
): Promise<ChargeRow | null> {
  const { from } = change;
  const after: ChargeRow = {
    ...from,
    status: change.status,
    brCode: change.brCode ?? from.brCode,
    failureReason: change.failureReason ?? from.failureReason,
    paidAt: change.paidAt ?? from.paidAt,
    endToEndId: change.endToEndId ?? from.endToEndId,
    refundedAmount: change.refundedAmount ?? from.refundedAmount,
  };
  const events = chargeEvents(after, types, deps.receiver);
  if (!(await moveCharge(deps.db, { ...change, events }))) return null;
  return {
    ...after,
    version: from.version + 1,
    eventSequence: from.eventSequence + events.length,
  };
}
