import type { HoldEndRefused } from '@pixmesh/contracts/messages/ledger-event.v1';
import { AppError } from '@pixmesh/kernel/app-error';
import type { RefundId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { z } from 'zod';

import { contradictHold } from './refund-orders.sql.ts';
import { holdContradicted } from './refund-metrics.ts';
import { findRefund } from './refunds.sql.ts';

type Refusal = z.output<typeof HoldEndRefused.schema>['data'];

/**
 * The hold of a refund had ended otherwise before the order of ours: money and refund have parted. The refund keeps its
 * status, since the acquirer's answer stands; it is marked once, with a line in the charge's ignored events, an
 * alert, and a break of the check `refund` until an operator has put the money right (decision 120). Nothing is booked.
 *
 * @throws AppError `MESSAGE_INVALID` for an end that no order of ours leads to
 */
export async function recordHoldEndRefusal(
  { db, logger }: { db: Database; logger: Logger },
  refusal: Refusal,
): Promise<void> {
  const { resource_id, hold_id: holdId, wanted, state } = refusal;
  const refund = await findRefund(db, resource_id as RefundId);
  // Holds of payouts belong to another service.
  if (refund === null) return;
  const isOrdered = refund.status === (wanted === 'settled' ? 'completed' : 'failed');
  if (refund.holdId !== holdId || !isOrdered) {
    throw new AppError('MESSAGE_INVALID', { message: 'an end of a hold that was not ordered' });
  }
  // As it was wanted; and where nothing is held any more, a release wants nothing else.
  if (wanted === state || (wanted === 'released' && state === 'voided')) return;
  if (await contradictHold(db, refund, state)) holdContradicted(logger, refund, 'end_refused');
}
