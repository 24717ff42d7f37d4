import type { Receiver } from '@pixmesh/contracts/http/charge';
import { CHARGE_EVENTS, type ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import type { Destination } from '@pixmesh/contracts/messages/resource-event';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import { toChargeResource } from './charge-resource.ts';
import type { ChargeRow } from './charge-row.ts';

/**
 * Catalogue events of one transition, numbered on from the row's counter, each with the state right after
 * the transition (decision 183). `after` must already carry that state.
 */
export function chargeEvents(
  after: ChargeRow,
  types: readonly ChargeEventType[],
  receiver: Receiver,
): OutboundEvent[] {
  // A snapshot tells what the transition made, even where the charge has expired since (decision 184).
  const data = { ...toChargeResource(after, receiver), status: after.status };
  const occurredAt = new Date().toISOString();
  return types.map((type, index) => {
    const message = CHARGE_EVENTS[type];
    const sequence = after.eventSequence + index + 1;
    return outboundEvent(
      message,
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

function destinationOf(charge: ChargeRow): Destination | null {
  if (charge.webhookUrl === null) return null;
  return { url: charge.webhookUrl, sealed_secret: charge.webhookSealedSecret };
}
