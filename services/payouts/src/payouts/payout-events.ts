import { PAYOUT_EVENTS, type PayoutEventType } from '@pixmesh/contracts/messages/payout-event.v1';
import type { Destination } from '@pixmesh/contracts/messages/resource-event';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import { toPayoutResource } from './payout-resource.ts';
import type { VisiblePayout } from './payout-row.ts';

/**
 * Catalogue events of one transition, numbered on from the row's counter, each with the state right after the
 * transition (decision 183). `after` must already carry that state.
 */
export function payoutEvents(
  after: VisiblePayout,
  types: readonly PayoutEventType[],
): OutboundEvent[] {
  const data = { ...toPayoutResource(after), object: 'payment' as const };
  const occurredAt = new Date().toISOString();
  return types.map((type, index) => {
    const sequence = after.eventSequence + index + 1;
    return outboundEvent(
      PAYOUT_EVENTS[type],
      { key: after.id, sequence },
      {
        event_id: newId(),
        type,
        version: 1,
        occurred_at: occurredAt,
        account_id: after.accountId,
        application_id: after.applicationId,
        source: after.source,
        sequence,
        destination: destinationOf(after),
        data,
      },
    );
  });
}

function destinationOf(payout: VisiblePayout): Destination | null {
  if (payout.webhookUrl === null) return null;
  return { url: payout.webhookUrl, sealed_secret: payout.webhookSealedSecret };
}
