import type { Receiver } from '@pixmesh/contracts/http/charge';
import { CHARGE_EVENTS, type ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
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
  // A snapshot shows what the transition made, even where the charge has expired since (decision 184).
  const data = toChargeResource(after, receiver, after.status);
  const occurredAt = new Date().toISOString();
  const { webhookUrl: url, webhookSealedSecret: sealed_secret } = after;
  return types.map((type, index) => {
    const sequence = after.eventSequence + index + 1;
    const place = { key: after.id, sequence };
    return outboundEvent(CHARGE_EVENTS[type], place, {
      event_id: newId(),
      type,
      version: 1,
      occurred_at: occurredAt,
      account_id: after.accountId,
      application_id: after.applicationId,
      source: after.source,
      sequence,
      destination: url === null ? null : { url, sealed_secret },
      data,
    });
  });
}
